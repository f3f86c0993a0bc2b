import type { Member } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { UserMinus } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { agentList } from '../../data/agents.ts';
import { client } from '../../data/client.ts';
import { personList } from '../../data/settings.ts';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ConfirmDialog } from '../../parts/ui/confirm-dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { SelectField } from '../../parts/ui/field.tsx';

interface AddMemberProps {
  readonly spaceId: string;
  readonly members: readonly Member[];
}

/** Adds a person or an agent that is not in the space yet. */
export function AddMember({ spaceId, members }: AddMemberProps): ReactElement | null {
  const mayAdd = useMay('write');
  const { data: people = [] } = useQuery({ ...personList, enabled: mayAdd });
  const { data: agents = [] } = useQuery({ ...agentList, enabled: mayAdd });
  const [chosen, setChosen] = useState('');
  const queries = useQueryClient();
  const added = useMutation({
    mutationFn: (entityId: string) => client.spaces.addMember(spaceId, { entityId }),
    onSuccess: async () => {
      setChosen('');
      await queries.invalidateQueries({ queryKey: ['spaces', 'members', spaceId] });
    },
  });
  if (!mayAdd) return null;
  const known = new Set(members.map(({ entityId }) => entityId));
  const others = [
    ...people.map(({ id, displayName }) => ({ id, name: displayName })),
    ...agents.map(({ id, name }) => ({ id, name })),
  ].filter(({ id }) => !known.has(id));
  return (
    <div className="flex flex-col gap-2 pt-2">
      <SelectField label="Add to the space" value={chosen} onChange={({ target }) => setChosen(target.value)}>
        <option value="">Choose a person or an agent</option>
        {others.map(({ id, name }) => (
          <option key={id} value={id}>
            {withVisibleControls(name)}
          </option>
        ))}
      </SelectField>
      {added.error !== null && <ErrorNote error={added.error} title="Not added." />}
      <Button disabled={chosen === '' || added.isPending} onClick={() => added.mutate(chosen)}>
        Add
      </Button>
    </div>
  );
}

/** Removes a member, after a question. What it wrote stays. */
export function RemoveMember({ spaceId, member }: { spaceId: string; member: Member }): ReactElement | null {
  const [isAsked, setAsked] = useState(false);
  const queries = useQueryClient();
  if (!useMay('write')) return null;
  const remove = async (): Promise<void> => {
    await client.spaces.removeMember(spaceId, member.entityId);
    await queries.invalidateQueries({ queryKey: ['spaces', 'members', spaceId] });
    setAsked(false);
  };
  return (
    <>
      <Button kind="ghost" className="px-2" aria-label={`Remove ${member.displayName}`} onClick={() => setAsked(true)}>
        <UserMinus size={16} aria-hidden />
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={`Remove ${member.displayName}?`}
          action="Remove"
          isDanger
          onClose={() => setAsked(false)}
          onConfirm={remove}
        >
          <p>They no longer read or write here. What they wrote stays.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
