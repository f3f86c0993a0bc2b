import { type Api, openApi } from '../http/api.ts';
import type { Database } from '../support/stores.ts';
import type { World } from '../support/world.ts';

/** The HTTP API of a world whose worker runs. */
export async function chatApi(world: World): Promise<Api> {
  const { services, registry } = world;
  // The world has its database open.
  const database = undefined as unknown as Database;
  return await openApi(database, { services, registry });
}

/** The fields of a tool registered over HTTP that returns a fixed text. */
export function fixedTool(name: string, value: unknown, more: object = {}): object {
  return {
    name,
    description: `Gives ${name}.`,
    executionType: 'internal',
    execution: { value },
    inputSchema: { type: 'object', properties: {}, additionalProperties: true },
    ...more,
  };
}

export const call = (toolName: string, input: object = {}) => ({ toolName, input });
