import type { Member, Space } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { ReactElement, ReactNode } from 'react';
import { Avatar } from '../../parts/ui/avatar.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { headerClass, headingClass } from '../../parts/ui/page.tsx';
import { SpaceMenu } from './space-menu.tsx';

interface SpaceHeaderProps {
  readonly space: Space;
  readonly activity: ReactNode;
  readonly members: readonly Member[];
  readonly hasMembers: boolean;
  readonly onMembers: () => void;
}

export function SpaceHeader({ space, activity, members, hasMembers, onMembers }: SpaceHeaderProps): ReactElement {
  return (
    <header className={headerClass}>
      <div className="column-talk flex flex-wrap items-center gap-x-4 gap-y-1">
        <div className="min-w-0 flex-1 basis-40">
          <h1 className={`truncate ${headingClass}`}>
            <bdi>{withVisibleControls(space.name)}</bdi>
            {space.archivedAt !== undefined && <span className="ml-2 text-sm font-normal text-quiet">archived</span>}
          </h1>
          {space.description !== '' && (
            <p className="hidden truncate text-sm text-quiet wide:block">
              <bdi>{withVisibleControls(space.description)}</bdi>
            </p>
          )}
        </div>
        {activity}
        <Button kind="ghost" aria-expanded={hasMembers} onClick={onMembers}>
          <span aria-hidden className="flex -space-x-1">
            {members.slice(0, MOST_AVATARS).map(({ entityId, displayName, kind }) => (
              <Avatar key={entityId} size="small" name={displayName} kind={kind} />
            ))}
          </span>
          {members.length}
          <span className="sr-only">{members.length === 1 ? ' member' : ' members'}</span>
        </Button>
        <SpaceMenu space={space} />
      </div>
    </header>
  );
}

const MOST_AVATARS = 4;
