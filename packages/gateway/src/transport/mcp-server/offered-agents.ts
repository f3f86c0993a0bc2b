import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { listActiveAgents } from '../../domain/agents/list-active-agents.ts';
import type { View } from '../../domain/projects/view.ts';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';

export interface OfferedAgent extends Pick<AgentRow, 'id' | 'name' | 'config'> {
  readonly toolName: string;
}

/** The active agents that are offered, each with the name of its tool. */
export async function listOfferedAgents(
  db: Kysely<Tables>,
  offered: boolean | readonly string[],
  { toolNames, view }: { readonly toolNames: ReadonlySet<string>; readonly view: View },
): Promise<readonly OfferedAgent[]> {
  if (offered === false) return [];
  const agents = (await listActiveAgents(db, { view })).filter(
    ({ id, name }) => offered === true || offered.includes(id) || offered.includes(name),
  );
  const sharing = Map.groupBy(agents, ({ name }) => plainName(name));
  return agents.map((agent) => {
    const plain = plainName(agent.name);
    // Agents that share a name all get a hash of their id: if an agent of the same name is added or removed, no other agent may
    // answer to an old name.
    const isAlone = sharing.get(plain)?.length === 1 && !toolNames.has(plain) && plain.length <= LONGEST_NAME;
    return { ...agent, toolName: isAlone && plain !== PREFIX ? plain : hashedName(plain, agent.id) };
  });
}

const PREFIX = 'ask_';
const LONGEST_NAME = 64;

/** `ask_` and the agent's name in ASCII letters, digits and underscores. */
function plainName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  return `${PREFIX}${plain}`;
}

function hashedName(plain: string, id: string): string {
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 8);
  return `${plain.slice(0, LONGEST_NAME - 9).replace(/_$/, '')}_${hash}`;
}
