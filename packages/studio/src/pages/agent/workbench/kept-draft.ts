import type { ChangedNodes } from '../../../data/drafts.ts';
import { keepInTab, readJsonInTab } from '../../../data/tab-storage.ts';

type Config = Readonly<Record<string, unknown>>;

/** What is kept of the edits of a configuration while the tab of the browser is open: a reload or the end of the session loses nothing. */
export interface KeptDraft {
  /** The saved configuration that the edits began with. */
  readonly base: { readonly version: number; readonly config: Config };
  readonly config: Config;
}

// Drafts of messages have the same beginning, with which all are removed when another person signs in.
const CONFIG = 'lastcall.draft.agent.';
const NODES = 'lastcall.draft.nodes.';
const RUN = 'lastcall.draft.run.';

export function readKept(name: string): KeptDraft | undefined {
  return readJsonInTab(CONFIG + name);
}

export function keep(name: string, draft: KeptDraft | undefined): void {
  keepInTab(CONFIG + name, draft && JSON.stringify(draft));
}

/** The newest run of the conversation that was shown last. */
export function readKeptRun(agentId: string): string | undefined {
  return sessionStorage.getItem(RUN + agentId) ?? undefined;
}

export function keepRun(agentId: string, runId: string | undefined): void {
  keepInTab(RUN + agentId, runId);
}

/** What is changed in the nodes of a machine. */
export function readKeptNodes(agentId: string): ChangedNodes {
  return readJsonInTab(NODES + agentId) ?? {};
}

export function keepNodes(agentId: string, nodes: ChangedNodes): void {
  keepInTab(NODES + agentId, Object.keys(nodes).length === 0 ? undefined : JSON.stringify(nodes));
}
