import { createRootRoute, createRoute, createRouter, Link, redirect } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { client } from '../data/client.ts';
import { lastSpace } from '../data/last-space.ts';
import {
  inboxSearch,
  runSearch,
  runsSearch,
  spaceSearch,
  spacesSearch,
  tabSearch,
  textSearch,
  toolSearch,
  toolsSearch,
  usageSearch,
} from '../data/search.ts';
import { EmptyState } from '../parts/ui/empty-state.tsx';
import { Page } from '../parts/ui/page.tsx';
import { AppFrame } from './app-frame.tsx';
import { loadPage, PageFailed } from './load-page.tsx';

const root = createRootRoute({ component: AppFrame, notFoundComponent: NotFoundPage });
const at = <P extends string>(path: P) => ({ getParentRoute: () => root, path }) as const;

/**
 * The router adds what is returned here to what the address has. What a page does not know is overwritten, so that it opens with an old
 * or changed link.
 */
function knownOf<S extends object>(read: (given: Record<string, unknown>) => S): (given: Record<string, unknown>) => S {
  return (given) => {
    const unknown = Object.fromEntries(Object.keys(given).map((name) => [name, undefined]));
    return { ...unknown, ...read(given) };
  };
}

/** Most people open a space first, so its page is loaded at once. Each other page is loaded when it is opened. */
const routes = root.addChildren([
  createRoute({
    ...at('/'),
    // A person who has not been in a space yet begins in the first one, which tells what this is about.
    beforeLoad: async () => {
      if (lastSpace() !== undefined) return;
      const id = (await client.spaces.list({ limit: 1 })).items[0]?.id;
      if (id !== undefined) throw redirect({ to: '/spaces/$id', params: { id }, replace: true });
    },
    component: loadPage(() => import('../pages/home/home-page.tsx'), 'HomePage'),
  }),
  createRoute({
    ...at('/spaces'),
    validateSearch: knownOf(spacesSearch),
    component: loadPage(() => import('../pages/space/spaces-page.tsx'), 'SpacesPage'),
  }),
  createRoute({
    ...at('/spaces/$id'),
    validateSearch: knownOf(spaceSearch),
    component: loadPage(() => import('../pages/space/space-page.tsx'), 'SpacePage'),
  }),
  createRoute({
    ...at('/inbox'),
    validateSearch: knownOf(inboxSearch),
    component: loadPage(() => import('../pages/inbox/inbox-page.tsx'), 'InboxPage'),
  }),
  createRoute({
    ...at('/runs'),
    validateSearch: knownOf(runsSearch),
    component: loadPage(() => import('../pages/runs/runs-page.tsx'), 'RunsPage'),
  }),
  createRoute({
    ...at('/runs/$id'),
    validateSearch: knownOf(runSearch),
    component: loadPage(() => import('../pages/run/run-page.tsx'), 'RunPage'),
  }),
  createRoute({
    ...at('/runs/$id/compare/$other'),
    component: loadPage(() => import('../pages/compare/compare-page.tsx'), 'ComparePage'),
  }),
  createRoute({
    ...at('/calls/$id'),
    component: loadPage(() => import('../pages/run/call-page.tsx'), 'CallPage'),
  }),
  createRoute({
    ...at('/agents'),
    component: loadPage(() => import('../pages/agents/agents-page.tsx'), 'AgentsPage'),
  }),
  createRoute({
    ...at('/agents/$id'),
    validateSearch: knownOf(tabSearch),
    component: loadPage(() => import('../pages/agent/agent-page.tsx'), 'AgentPage'),
  }),
  createRoute({
    ...at('/tools'),
    validateSearch: knownOf(toolsSearch),
    component: loadPage(() => import('../pages/tools/tools-page.tsx'), 'ToolsPage'),
  }),
  createRoute({
    ...at('/tools/$id'),
    validateSearch: knownOf(toolSearch),
    component: loadPage(() => import('../pages/tools/tool-page.tsx'), 'ToolPage'),
  }),
  createRoute({
    ...at('/evaluations'),
    component: loadPage(() => import('../pages/evaluations/evaluations-page.tsx'), 'EvaluationsPage'),
  }),
  createRoute({
    ...at('/evaluations/$id'),
    component: loadPage(() => import('../pages/evaluations/evaluation-page.tsx'), 'EvaluationPage'),
  }),
  createRoute({
    ...at('/usage'),
    validateSearch: knownOf(usageSearch),
    component: loadPage(() => import('../pages/usage/usage-page.tsx'), 'UsagePage'),
  }),
  createRoute({
    ...at('/search'),
    validateSearch: knownOf(textSearch),
    component: loadPage(() => import('../pages/search/search-page.tsx'), 'SearchPage'),
  }),
  createRoute({
    ...at('/settings'),
    validateSearch: knownOf(tabSearch),
    component: loadPage(() => import('../pages/settings/settings-page.tsx'), 'SettingsPage'),
  }),
]);

export const router = createRouter({
  routeTree: routes,
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailed,
  // The old page stays until the new one is ready.
  defaultPendingMs: 5_000,
  scrollRestoration: false,
});

function NotFoundPage(): ReactElement {
  return (
    <Page title="Nothing here">
      <EmptyState title="There is no page at this address.">
        <p>
          The link may be old or incomplete. Go to{' '}
          <Link to="/" className="link">
            your spaces
          </Link>
          .
        </p>
      </EmptyState>
    </Page>
  );
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
