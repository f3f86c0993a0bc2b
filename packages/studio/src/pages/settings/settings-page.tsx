import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { Page } from '../../parts/ui/page.tsx';
import { Tabs, tabClass } from '../../parts/ui/tabs.tsx';
import { BrowserTab } from './browser-tab.tsx';
import { ErasuresTab } from './erasures-tab.tsx';
import { GatewayTab } from './gateway-tab.tsx';
import { KeysTab } from './keys-tab.tsx';
import { McpTab } from './mcp-tab.tsx';
import { NotificationsTab } from './notifications-tab.tsx';
import { PeopleTab } from './people-tab.tsx';
import { SessionsTab } from './sessions-tab.tsx';

const route = getRouteApi('/settings');

const TABS = [
  { tab: 'browser', word: 'You', show: BrowserTab },
  { tab: 'gateway', word: 'Gateway', show: GatewayTab },
  { tab: 'keys', word: 'Keys', show: KeysTab },
  { tab: 'people', word: 'People', show: PeopleTab },
  { tab: 'sessions', word: 'Sessions', show: SessionsTab },
  { tab: 'erasures', word: 'Erasures', show: ErasuresTab },
  { tab: 'notifications', word: 'Notifications', show: NotificationsTab },
  { tab: 'mcp', word: 'MCP servers', show: McpTab },
] as const;

export function SettingsPage(): ReactElement {
  const { tab: wanted } = route.useSearch();
  const { tab: current, show: Shown } = TABS.find(({ tab }) => tab === wanted) ?? TABS[0];
  return (
    <Page
      title="Settings"
      below={
        <Tabs label="Parts of the settings">
          {TABS.map(({ tab, word }) => (
            <Link
              key={tab}
              to="/settings"
              search={tab === 'browser' ? {} : { tab }}
              className={tabClass}
              activeOptions={{ exact: true }}
              aria-current={tab === current ? 'page' : undefined}
            >
              {word}
            </Link>
          ))}
        </Tabs>
      }
    >
      <Shown />
    </Page>
  );
}
