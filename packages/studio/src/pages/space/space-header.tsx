import type { Space } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { Users } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { Button } from '../../parts/ui/button.tsx';

interface SpaceHeaderProps {
  readonly space: Space;
  readonly activity: ReactNode;
  readonly memberCount: number;
  readonly hasMembers: boolean;
  readonly onMembers: () => void;
}

export function SpaceHeader({ space, activity, memberCount, hasMembers, onMembers }: SpaceHeaderProps): ReactElement {
  return (
    <header className="flex min-h-12 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line bg-surface px-4 py-2">
      <div className="mr-auto min-w-0">
        <h1 className="truncate text-lg font-semibold">
          <bdi>{withVisibleControls(space.name)}</bdi>
        </h1>
        {space.description !== '' && (
          <p className="hidden truncate text-xs text-quiet wide:block">
            <bdi>{withVisibleControls(space.description)}</bdi>
          </p>
        )}
      </div>
      {activity}
      <Button kind="ghost" aria-expanded={hasMembers} onClick={onMembers}>
        <Users size={16} aria-hidden /> {memberCount}
        <span className="sr-only"> members</span>
      </Button>
    </header>
  );
}
