import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';
import { everyPage } from './every-page.ts';

export const keyList = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => everyPage((page) => client.keys.list(page, { signal })),
});

export const personList = queryOptions({
  queryKey: ['people'],
  queryFn: async ({ signal }) =>
    (await everyPage((page) => client.entities.list({ kind: 'human', ...page }, { signal }))).filter(
      ({ deletedAt }) => deletedAt === undefined,
    ),
});

export const sessionList = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => everyPage((page) => client.session.list(page, { signal })),
  refetchInterval: EVERY_MS,
});

export const linkList = queryOptions({
  queryKey: ['links'],
  queryFn: ({ signal }) => everyPage((page) => client.links.list(page, { signal })),
  refetchInterval: EVERY_MS,
});

export const mcpServers = queryOptions({
  queryKey: ['mcp', 'servers'],
  queryFn: async ({ signal }) => (await client.mcp.servers({ signal })).items,
  refetchInterval: EVERY_MS,
});

/** What was erased, and what is being erased. */
export const erasureList = queryOptions({
  queryKey: ['erasures'],
  queryFn: async ({ signal }) => (await client.erasures.list({ limit: 100 }, { signal })).items,
  refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === 'running') === true ? 500 : EVERY_MS),
});

/** Tools of MCP servers that changed, and wait until a user approves the change. */
export const heldTools = queryOptions({
  queryKey: ['mcp', 'held'],
  queryFn: ({ signal }) => everyPage((page) => client.mcp.tools({ status: 'held', ...page }, { signal })),
  refetchInterval: EVERY_MS,
});

export const notificationTargets = queryOptions({
  queryKey: ['notifications', 'targets'],
  queryFn: async ({ signal }) => (await client.notifications.targets({ signal })).items,
});

/** The newest 50. */
export const notificationList = queryOptions({
  queryKey: ['notifications', 'list'],
  queryFn: async ({ signal }) => (await client.notifications.list({ limit: 50 }, { signal })).items,
  refetchInterval: EVERY_MS,
});
