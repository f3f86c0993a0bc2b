import { USAGE_DAYS, type UsageBy } from './usage.ts';

/** The search parameters of the addresses. Unknown values are left out, so that an old link still opens. */
type Given = Record<string, unknown>;

export interface SpaceSearch {
  /** The number of the message to show. */
  readonly at?: number;
}

export function spaceSearch({ at }: Given): SpaceSearch {
  return typeof at === 'number' ? { at } : {};
}

export interface SpacesSearch {
  readonly show?: 'archived';
}

export function spacesSearch({ show }: Given): SpacesSearch {
  return show === 'archived' ? { show } : {};
}

export type InboxShow = 'waiting' | 'answered' | 'expired';

export interface InboxSearch {
  readonly show?: InboxShow;
  /** The call that is open. */
  readonly call?: string;
}

export function inboxSearch({ show, ...given }: Given): InboxSearch {
  return { ...(show === 'answered' || show === 'expired' ? { show } : {}), ...texts(given, ['call']) };
}

export interface RunsSearch {
  readonly agent?: string;
  readonly status?: string;
  readonly stop?: string;
  readonly tool?: string;
  readonly outcome?: string;
  readonly since?: string;
}

export function runsSearch(given: Given): RunsSearch {
  return texts(given, ['agent', 'status', 'stop', 'tool', 'outcome', 'since']);
}

export interface RunSearch {
  /** The call that is open. */
  readonly call?: string;
  /** `seen`: as the model saw it. `answer`: what the task gave. Default: as it happened. */
  readonly view?: string;
  /** Which calls are shown: `errors`, `waiting`, `changes`, `never-ran`. */
  readonly only?: string;
  /** What the open call shows: `input`, `output`, `changes`, `receipt`, `request`. */
  readonly tab?: string;
  /** The text that calls are searched for. */
  readonly q?: string;
  /** `no`: idle periods are drawn at full length. */
  readonly fold?: string;
  /** The number of the shown moment, while a run is replayed. */
  readonly moment?: number;
}

export function runSearch(given: Given): RunSearch {
  const { moment } = given;
  return {
    ...texts(given, ['call', 'view', 'only', 'tab', 'q', 'fold']),
    ...(typeof moment === 'number' ? { moment } : {}),
  };
}

export interface TabSearch {
  readonly tab?: string;
  /** The status to filter by, e.g. `dead` events. */
  readonly show?: string;
  /** The conversation whose session or machine is shown. Default: the agent's own. */
  readonly context?: string;
  /** The newest run of the conversation in the workbench. */
  readonly run?: string;
  /** What of the workbench a narrow screen shows: `edit`, `chat` or `timeline`. */
  readonly pane?: string;
}

export function tabSearch(given: Given): TabSearch {
  return texts(given, ['tab', 'show', 'context', 'run', 'pane']);
}

export type TextKind = 'message' | 'input' | 'output' | 'error';

export interface TextSearch {
  /** The words to search for. */
  readonly q?: string;
  readonly kind?: TextKind;
}

const TEXT_KINDS: readonly unknown[] = ['message', 'input', 'output', 'error'] satisfies TextKind[];

/** The router parses values that look like JSON: a number is searched for as it was typed. */
export function textSearch({ q, kind }: Given): TextSearch {
  return {
    ...(q === undefined || q === '' ? {} : { q: typeof q === 'string' ? q : JSON.stringify(q) }),
    ...(TEXT_KINDS.includes(kind) ? { kind: kind as TextKind } : {}),
  };
}

export interface ToolsSearch {
  /** The text that names and descriptions must contain. */
  readonly q?: string;
  readonly source?: string;
}

export function toolsSearch(given: Given): ToolsSearch {
  return texts(given, ['q', 'source']);
}

export interface ToolSearch {
  /** The input to try it with, as JSON. */
  readonly try?: string;
}

/** The router parses values that look like JSON: here the value is wanted as text. */
export function toolSearch({ try: input }: Given): ToolSearch {
  if (input === undefined) return {};
  return { try: typeof input === 'string' ? input : JSON.stringify(input) };
}

export interface UsageSearch {
  readonly by?: UsageBy;
  /** How many days, today included. */
  readonly days?: number;
}

const USAGE_KEYS: readonly unknown[] = ['agent', 'model', 'entity', 'kind'] satisfies UsageBy[];

export function usageSearch({ by, days }: Given): UsageSearch {
  return {
    ...(USAGE_KEYS.includes(by) ? { by: by as UsageBy } : {}),
    ...(USAGE_DAYS.some((count) => count === days) ? { days: days as number } : {}),
  };
}

/** The router parses values that look like JSON: a number is wanted as it was typed. */
function texts<K extends string>(given: Given, names: readonly K[]): { readonly [N in K]?: string } {
  const known: { [N in K]?: string } = {};
  for (const name of names) {
    const value = given[name];
    if (typeof value === 'number' || typeof value === 'boolean') known[name] = String(value);
    else if (typeof value === 'string' && value !== '') known[name] = value;
  }
  return known;
}
