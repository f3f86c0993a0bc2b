import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';

export const keyList = queryOptions({
  queryKey: ['keys'],
  queryFn: async ({ signal }) => (await client.keys.list({ limit: 100 }, { signal })).items,
});

export const personList = queryOptions({
  queryKey: ['people'],
  queryFn: async ({ signal }) =>
    (await client.entities.list({ kind: 'human', limit: 100 }, { signal })).items.filter(
      ({ deletedAt }) => deletedAt === undefined,
    ),
});

export const sessionList = queryOptions({
  queryKey: ['sessions'],
  queryFn: async ({ signal }) => (await client.session.list({ limit: 100 }, { signal })).items,
  refetchInterval: EVERY_MS,
});

export const mcpServers = queryOptions({
  queryKey: ['mcp', 'servers'],
  queryFn: async ({ signal }) => (await client.mcp.servers({ signal })).items,
  refetchInterval: EVERY_MS,
});

/** Tools of MCP servers that changed, and wait until somebody approves what they are now. */
export const heldTools = queryOptions({
  queryKey: ['mcp', 'held'],
  queryFn: async ({ signal }) => (await client.mcp.tools({ status: 'held', limit: 100 }, { signal })).items,
  refetchInterval: EVERY_MS,
});
