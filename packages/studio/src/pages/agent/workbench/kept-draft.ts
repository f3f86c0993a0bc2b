import type { ChangedNodes } from '../../../data/drafts.ts';

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
  const text = sessionStorage.getItem(CONFIG + name);
  return text === null ? undefined : (JSON.parse(text) as KeptDraft);
}

export function keep(name: string, draft: KeptDraft | undefined): void {
  if (draft === undefined) sessionStorage.removeItem(CONFIG + name);
  else sessionStorage.setItem(CONFIG + name, JSON.stringify(draft));
}

/** The newest run of the conversation that was shown last. */
export function readKeptRun(agentId: string): string | undefined {
  return sessionStorage.getItem(RUN + agentId) ?? undefined;
}

export function keepRun(agentId: string, runId: string | undefined): void {
  if (runId === undefined) sessionStorage.removeItem(RUN + agentId);
  else sessionStorage.setItem(RUN + agentId, runId);
}

/** What is changed in the nodes of a machine. */
export function readKeptNodes(agentId: string): ChangedNodes {
  return JSON.parse(sessionStorage.getItem(NODES + agentId) ?? '{}') as ChangedNodes;
}

export function keepNodes(agentId: string, nodes: ChangedNodes): void {
  if (Object.keys(nodes).length === 0) sessionStorage.removeItem(NODES + agentId);
  else sessionStorage.setItem(NODES + agentId, JSON.stringify(nodes));
}
