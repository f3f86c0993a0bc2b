import type { Agent, Space } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { agentSpaces } from '../../data/agents.ts';
import { client } from '../../data/client.ts';
import { spaceNames } from '../../data/space-names.ts';
import { useMay } from '../../parts/session/session.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { fieldClass } from '../../parts/ui/field.tsx';

/** The spaces in which the agent reads and answers, and a way to add one. */
export function AgentSpaceList({ agent }: { agent: Agent }): ReactElement | null {
  const { data: spaces } = useQuery(agentSpaces(agent.entityId));
  const mayWrite = useMay('write');
  if (spaces === undefined) return null;
  return (
    <div className="flex flex-col gap-2">
      {spaces.length === 0 && <p>none: no one can talk to it yet.</p>}
      {spaces.length > 0 && (
        <ul className="flex flex-wrap gap-x-3">
          {spaces.map(({ id, name }) => (
            <li key={id}>
              <Link to="/spaces/$id" params={{ id }} className="link">
                <bdi>{withVisibleControls(name)}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {mayWrite && <AddToSpace agent={agent} spaces={spaces} />}
    </div>
  );
}

function AddToSpace({ agent, spaces }: { agent: Agent; spaces: readonly Space[] }): ReactElement | null {
  const { data: all = [] } = useQuery(spaceNames);
  const queries = useQueryClient();
  const add = useMutation({
    mutationFn: (id: string) => client.spaces.addMember(id, { entityId: agent.entityId }),
    onSuccess: () => queries.invalidateQueries({ queryKey: agentSpaces(agent.entityId).queryKey }),
  });
  const others = all.filter(({ id }) => !spaces.some((space) => space.id === id));
  if (others.length === 0) return null;
  return (
    <>
      <select
        aria-label="Add it to a space"
        value=""
        disabled={add.isPending}
        onChange={({ target }) => target.value !== '' && add.mutate(target.value)}
        className={`${fieldClass} min-h-8 max-w-60`}
      >
        <option value="">Add it to a space …</option>
        {others.map(({ id, name }) => (
          <option key={id} value={id}>
            {withVisibleControls(name)}
          </option>
        ))}
      </select>
      {add.error !== null && <ErrorNote error={add.error} title="It was not added." />}
    </>
  );
}
