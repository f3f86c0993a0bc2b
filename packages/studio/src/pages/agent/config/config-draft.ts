import type { AgentConfig } from '@lastcall/client';
import type { Problem } from '../../../parts/form/path.ts';

/**
 * A configuration as the form holds it: limits as they were typed, and fields that the form does not draw unchanged.
 */
export interface ConfigDraft {
  readonly name: string;
  readonly description: string;
  readonly definition: string | undefined;
  readonly instructions: string;
  readonly model: string | undefined;
  /** What becomes of the text that ends a run. Undefined: the gateway's default, `text`. */
  readonly replies: AgentConfig['replies'];
  readonly tools: readonly unknown[];
  readonly limits: Readonly<Record<string, string>>;
  readonly rest: Readonly<Record<string, unknown>>;
}

/** The limits of an agent. A test compares them with the gateway's. */
export const LIMITS = [
  { key: 'maxSteps', label: 'Steps', unit: 'model replies in a run' },
  { key: 'tokensPerCycle', label: 'Tokens', unit: 'in and out, in a run' },
  { key: 'cycleTimeoutMs', label: 'Time', unit: 'milliseconds, of a run' },
  { key: 'consciousnessTokens', label: 'Memory of runs', unit: 'tokens, then it is summed up' },
  { key: 'eventsPerCycle', label: 'Events', unit: 'that one run handles' },
  { key: 'inboxLength', label: 'Inbox', unit: 'events that may wait' },
  { key: 'maxAttempts', label: 'Attempts', unit: 'then an event is dead' },
  { key: 'hopLimit', label: 'Hops', unit: 'messages of agents in a row' },
  { key: 'maxGoals', label: 'Goals', unit: 'at most' },
  { key: 'maxMemories', label: 'Memories', unit: 'at most' },
  { key: 'maxPlans', label: 'Plans', unit: 'at most' },
  { key: 'noteLength', label: 'Note', unit: 'characters of a goal, memory or plan' },
  { key: 'subAgentDepth', label: 'Sub-agents', unit: 'inside each other' },
  { key: 'fileBytes', label: 'File', unit: 'bytes of one file' },
  { key: 'filesBytes', label: 'All files', unit: 'bytes together' },
  { key: 'maxFiles', label: 'Files', unit: 'at most' },
] as const;

/** How much its models may cost. The draft holds them with a dot, as problems name them. */
export const SPEND_LIMITS = [
  { key: 'spend.perRun', label: 'Money in a run', unit: 'by the prices of the gateway' },
  { key: 'spend.perDay', label: 'Money in a day', unit: 'then what arrives waits' },
  { key: 'spend.perDayTokens', label: 'Tokens in a day', unit: 'then what arrives waits' },
] as const;

const MONEY: readonly string[] = ['spend.perRun', 'spend.perDay'];

type Config = Readonly<Record<string, unknown>>;

export function toConfigDraft(config: AgentConfig): ConfigDraft {
  const {
    name,
    description = '',
    definition,
    instructions = '',
    model,
    replies,
    tools = [],
    limits = {},
    ...rest
  } = config;
  const { spend = {}, ...numbers } = limits;
  const ofSpend = Object.entries(spend).map(([key, value]) => [`spend.${key}`, value] as const);
  const typed = [...Object.entries(numbers), ...ofSpend].filter(([, value]) => value !== undefined);
  return {
    name,
    description,
    definition,
    instructions,
    model: typeof model === 'string' ? model : model?.join(', '),
    replies,
    tools,
    limits: Object.fromEntries(typed.map(([key, value]) => [key, String(value)])),
    rest,
  };
}

/** The configuration of a draft, and the limits that are not numbers. */
export function readConfigDraft(draft: ConfigDraft): { config: Config; problems: readonly Problem[] } {
  const typed = Object.entries(draft.limits).filter(([, text]) => text.trim() !== '');
  const limits = typed.map(([key, text]) => [key, readLimit(key, text.trim())] as const);
  const wrong = limits.filter(([, value]) => value === undefined);
  const optional = {
    description: draft.description.trim() === '' ? undefined : draft.description,
    definition: draft.definition,
    // A definition has its own instructions.
    instructions: draft.definition !== undefined && draft.instructions.trim() === '' ? undefined : draft.instructions,
    model: readModel(draft.model),
    replies: draft.replies,
    tools: draft.tools.length === 0 ? undefined : draft.tools,
    limits: limits.length === 0 ? undefined : nestSpend(limits),
    ...draft.rest,
  };
  const set = Object.entries(optional).filter(([, value]) => value !== undefined);
  return {
    config: { name: draft.name.trim(), ...Object.fromEntries(set) },
    problems: wrong.map(([key]) => ({
      path: `limits.${key}`,
      message: MONEY.includes(key) ? 'Write a number.' : 'Write a whole number.',
    })),
  };
}

/** Undefined if it is not a number. A currency is a text, which the form does not draw. */
function readLimit(key: string, text: string): number | string | undefined {
  if (key === 'spend.currency') return text;
  const value = Number(text);
  return Number.isInteger(value) || (MONEY.includes(key) && Number.isFinite(value)) ? value : undefined;
}

function nestSpend(limits: readonly (readonly [key: string, value: unknown])[]): Config {
  const isOfSpend = ([key]: readonly [string, unknown]): boolean => key.startsWith('spend.');
  const spend = limits.filter(isOfSpend).map(([key, value]) => [key.slice('spend.'.length), value]);
  const others = Object.fromEntries(limits.filter((limit) => !isOfSpend(limit)));
  return spend.length === 0 ? others : { ...others, spend: Object.fromEntries(spend) };
}

export function applyChanges(config: Config, changes: Config): Config {
  const merged = Object.entries({ ...config, ...changes });
  return Object.fromEntries(merged.filter(([, value]) => value !== null && value !== undefined));
}

/** One model, or several with commas between them. */
function readModel(text: string | undefined): string | readonly string[] | undefined {
  const names = (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length > 1 ? names : names[0];
}
