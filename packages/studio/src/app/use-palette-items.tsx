import type { Agent } from '@lastcall/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { agentList } from '../data/agents.ts';
import { client } from '../data/client.ts';
import { crashGateway } from '../data/crash.ts';
import { spaceNames } from '../data/space-names.ts';
import { gatewayStatus } from '../data/status.ts';
import { toolList } from '../data/tools.ts';
import { useMay, useSession } from '../parts/session/session.tsx';
import { setTheme } from '../parts/ui/theme.ts';
import { looksLikeId, type PaletteItem } from './find-items.ts';

/** All items of the palette. `onPause` asks before an agent is paused or resumed. */
export function usePaletteItems(query: string, onPause: (agent: Agent) => void): readonly PaletteItem[] {
  const mayRead = useMay('read');
  const mayWrite = useMay('write');
  const pages = usePageItems();
  const commands = useCommandItems();
  const crash = useCrashItems();
  const navigate = useNavigate();
  const { data: spaces = [] } = useQuery({ ...spaceNames, refetchInterval: false });
  const { data: agents = [] } = useQuery({ ...agentList, enabled: mayRead });
  const { data: tools = [] } = useQuery({ ...toolList, enabled: mayRead });
  return useMemo(
    () => [
      ...pages,
      ...spaces.map(
        ({ id, name, description }): PaletteItem => ({
          id: `space-${id}`,
          kind: 'Space',
          text: name,
          detail: description,
          run: () => void navigate({ to: '/spaces/$id', params: { id } }),
        }),
      ),
      ...agents.map(
        ({ id, name, status }): PaletteItem => ({
          id: `agent-${id}`,
          kind: 'Agent',
          text: name,
          detail: status === 'active' ? undefined : status,
          run: () => void navigate({ to: '/agents/$id', params: { id } }),
        }),
      ),
      ...tools.map(
        ({ id, name, description }): PaletteItem => ({
          id: `tool-${id}`,
          kind: 'Tool',
          text: name,
          detail: description,
          run: () => void navigate({ to: '/tools/$id', params: { id } }),
        }),
      ),
      ...(mayWrite ? agents.map((agent) => pauseItem(agent, onPause)) : []),
      ...commands,
      ...crash,
      ...idItems(query, navigate),
      ...textItems(query, navigate),
    ],
    [pages, spaces, agents, tools, commands, crash, mayWrite, onPause, query, navigate],
  );
}

function pauseItem(agent: Agent, onPause: (agent: Agent) => void): PaletteItem {
  const verb = agent.status === 'paused' ? 'Resume' : 'Pause';
  return { id: `pause-${agent.id}`, kind: 'Command', text: `${verb} ${agent.name}`, run: () => onPause(agent) };
}

function idItems(query: string, navigate: ReturnType<typeof useNavigate>): readonly PaletteItem[] {
  const id = query.trim();
  if (!looksLikeId(id)) return [];
  return [
    { id: 'run', kind: 'Run', text: id, run: () => void navigate({ to: '/runs/$id', params: { id } }) },
    { id: 'call', kind: 'Call', text: id, run: () => void navigate({ to: '/calls/$id', params: { id } }) },
  ];
}

/** It comes last: what has the words in its name is closer to what was meant. */
function textItems(query: string, navigate: ReturnType<typeof useNavigate>): readonly PaletteItem[] {
  const q = query.trim();
  if (q === '') return [];
  const run = (): void => void navigate({ to: '/search', search: { q } });
  return [{ id: 'search', kind: 'Search', text: `Search all texts for “${q}”`, detail: 'messages and runs', run }];
}

function usePageItems(): readonly PaletteItem[] {
  const navigate = useNavigate();
  return useMemo(() => {
    const places = [
      ['Home', '/'],
      ['Inbox', '/inbox'],
      ['Spaces', '/spaces'],
      ['Runs', '/runs'],
      ['Search', '/search'],
      ['Agents', '/agents'],
      ['Tools', '/tools'],
      ['Evaluations', '/evaluations'],
      ['Usage', '/usage'],
      ['Settings', '/settings'],
    ] as const;
    const parts = ['browser', 'gateway', 'keys', 'people', 'sessions', 'erasures', 'notifications', 'mcp'] as const;
    return [
      ...places.map(([text, to]): PaletteItem => ({ id: to, kind: 'Page', text, run: () => void navigate({ to }) })),
      ...parts.map(
        (tab): PaletteItem => ({
          id: `settings-${tab}`,
          kind: 'Page',
          text: `Settings: ${TAB_WORDS[tab] ?? tab}`,
          run: () => void navigate({ to: '/settings', search: { tab } }),
        }),
      ),
    ];
  }, [navigate]);
}

/** Tabs whose name is not their word. */
const TAB_WORDS: Readonly<Record<string, string>> = { browser: 'you', mcp: 'MCP servers' };

function useCommandItems(): readonly PaletteItem[] {
  const { setSession } = useSession();
  return useMemo(() => {
    const themes = (['light', 'dark', 'system'] as const).map(
      (theme): PaletteItem => ({
        id: `theme-${theme}`,
        kind: 'Command',
        text: theme === 'system' ? 'Theme as the system' : `Theme ${theme}`,
        run: () => setTheme(theme),
      }),
    );
    const signOut = async (): Promise<void> => {
      await client.session.signOut();
      setSession(undefined);
    };
    return [...themes, { id: 'sign-out', kind: 'Command', text: 'Sign out', run: () => void signOut() }];
  }, [setSession]);
}

/** Only in the demo. If it fails, the button in the settings shows why. */
function useCrashItems(): readonly PaletteItem[] {
  const mayCrash = useMay('admin');
  const navigate = useNavigate();
  const { data: status } = useQuery(gatewayStatus);
  return useMemo(() => {
    if (!mayCrash || status?.canCrash !== true) return [];
    const run = (): void => void crashGateway().catch(() => navigate({ to: '/settings', search: { tab: 'gateway' } }));
    return [
      {
        id: 'crash',
        kind: 'Command',
        text: 'Crash the gateway',
        detail: 'Kills it with SIGKILL; it restarts',
        run,
      },
    ];
  }, [mayCrash, status, navigate]);
}
