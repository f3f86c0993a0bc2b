import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { pendingCalls } from '../data/pending.ts';
import { useNotificationPermission } from '../parts/notify/browser-notifications.ts';
import { useAnswerer } from '../parts/session/session.tsx';

/** A hidden page asks less often. */
const HIDDEN_MS = 20_000;

/** Tells the user about calls that begin to wait while the page is hidden. Only the tool's name is shown: a screen may be seen by others. */
export function useWaitingNotifications(): void {
  const answerer = useAnswerer();
  const navigate = useNavigate();
  const isAllowed = useNotificationPermission() === 'granted';
  const { data } = useQuery({
    ...pendingCalls('waiting', answerer),
    refetchInterval: HIDDEN_MS,
    refetchIntervalInBackground: isAllowed,
  });
  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    if (data === undefined) return;
    const before = known.current;
    known.current = new Set(data.map(({ callId }) => callId));
    if (before === undefined || !isAllowed || !document.hidden) return;
    for (const { callId, toolName } of data.filter((call) => !before.has(call.callId))) {
      // Two tabs with the same tag show one notification.
      const shown = new Notification('A call waits for your answer', { body: toolName, tag: callId });
      shown.onclick = () => {
        window.focus();
        void navigate({ to: '/inbox', search: { call: callId } });
      };
    }
  }, [data, isAllowed, navigate]);
}
