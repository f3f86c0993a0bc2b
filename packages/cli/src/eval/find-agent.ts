import { type Agent, type Client, everyItem } from '@lastcall/client';
import { CommandFailed } from '../exit-code.ts';

/** The agent of the gateway with this name or id. */
export async function findAgent({ agents }: Client, name: string): Promise<Agent> {
  const found = (await everyItem((page) => agents.list(page))).find((one) => one.name === name || one.id === name);
  if (found === undefined) throw new CommandFailed(`There is no agent "${name}".`);
  return found;
}
