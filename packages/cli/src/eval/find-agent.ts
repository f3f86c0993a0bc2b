import { type Agent, type Client, everyItem } from '@lastcall/client';
import { CommandFailed, EXIT } from '../exit-code.ts';

/** The agent of the gateway with this name or id. */
export async function findAgent({ agents }: Client, name: string): Promise<Agent> {
  const all = await everyItem((page) => agents.list(page));
  const byId = all.filter(({ id }) => id === name);
  const [found, second] = byId.length > 0 ? byId : all.filter((one) => one.name === name);
  if (found === undefined) throw new CommandFailed(`There is no agent "${name}".`);
  if (second !== undefined)
    throw new CommandFailed(`"${name}" is the name of several agents: use the id.`, { exitCode: EXIT.usage });
  return found;
}

/** The id of an agent, perhaps of a deleted one: that is in no list, but what it did is still shown. */
export async function agentId(client: Client, nameOrId: string): Promise<string> {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(nameOrId)
    ? nameOrId
    : (await findAgent(client, nameOrId)).id;
}
