import type { Member } from '@lastcall/client';
import { type UsedSpace, withVisibleControls } from '@lastcall/client/react';
import { X } from 'lucide-react';
import type { ReactElement } from 'react';
import { client } from '../../data/client.ts';
import { spaceList } from '../../data/spaces.ts';
import { EraseButton } from '../../parts/erasure/erase-button.tsx';
import { Avatar } from '../../parts/ui/avatar.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { RunOf } from './activity.tsx';
import { AddMember, RemoveMember } from './manage-members.tsx';

/** Beside the messages; on a narrow screen in their place. */
export function MembersPanel({ used, onClose }: { used: UsedSpace; onClose: () => void }): ReactElement {
  return (
    <aside
      aria-label="Members"
      className="absolute inset-0 z-10 flex flex-col gap-1 overflow-y-auto bg-surface p-3 wide:static wide:w-60 wide:shrink-0 wide:border-l wide:border-line"
    >
      <div className="flex items-center justify-between">
        <h2 className="text-sm font-medium text-quiet">Members</h2>
        <Button kind="ghost" aria-label="Close the members" onClick={onClose} className="px-2">
          <X size={16} aria-hidden />
        </Button>
      </div>
      <ul className="flex flex-col">
        {used.members.map((member) => (
          <MemberRow key={member.entityId} member={member} used={used} />
        ))}
      </ul>
      {used.space !== undefined && <AddMember spaceId={used.space.id} members={used.members} />}
      {used.space !== undefined && <EraseSpace space={used.space} />}
    </aside>
  );
}

function EraseSpace({ space }: { space: NonNullable<UsedSpace['space']> }): ReactElement {
  return (
    <div className="mt-auto pt-6">
      <EraseButton
        name={space.name}
        word="Delete the space"
        stale={[spaceList.queryKey]}
        onErase={() => client.spaces.delete(space.id)}
      >
        <p>
          All members leave it, and its messages are erased, with all copies that agents made of them. This cannot be
          undone.
        </p>
      </EraseButton>
    </div>
  );
}

function MemberRow({ member, used }: { member: Member; used: UsedSpace }): ReactElement {
  const isActive = used.active.includes(member.entityId);
  return (
    <li className="flex min-h-11 items-center gap-2">
      <Avatar name={member.displayName} kind={member.kind} />
      <span className="min-w-0 flex-1 truncate">
        <bdi>{withVisibleControls(member.displayName)}</bdi>
        <span className="sr-only">, {member.kind === 'human' ? 'a person' : `an ${member.kind}`}</span>
      </span>
      <span className="truncate text-xs text-quiet">
        {isActive ? 'at work' : withVisibleControls(member.role === 'member' ? '' : member.role)}
      </span>
      {isActive && <RunOf runId={used.activeRuns[member.entityId]} />}
      {used.space !== undefined && <RemoveMember spaceId={used.space.id} member={member} />}
    </li>
  );
}
