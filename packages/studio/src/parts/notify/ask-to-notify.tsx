import { BellRing } from 'lucide-react';
import type { ReactElement } from 'react';
import { Button } from '../ui/button.tsx';
import { askForNotifications, useNotificationPermission } from './browser-notifications.ts';

/** Browsers ask once, and remember a no: so nothing is asked before the user has seen what it is for, and wants it. */
export function AskToNotify(): ReactElement | null {
  if (useNotificationPermission() !== 'default') return null;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-quiet">
      This page can tell you about new calls while you look at something else.
      <Button onClick={() => void askForNotifications()}>
        <BellRing size={16} aria-hidden /> Notify me
      </Button>
    </p>
  );
}
