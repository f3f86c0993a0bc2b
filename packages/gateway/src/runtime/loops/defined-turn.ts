import {
  LastcallError,
  mergeToolSets,
  type Prompt,
  type Session,
  type ToolSet,
  type TurnOptions,
} from '@lastcall/core';
import { mapPrompt } from '@lastcall/core/internal';
import type { AgentMode } from '@lastcall/core/prompt';
import type { CompiledDefinition } from '../../config/definitions.ts';
import { BUILT_IN_TOOL_NAMES } from '../../config/reserved-tool-names.ts';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { joinTexts } from '../../domain/join-texts.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import { fenced } from '../lease/lease.ts';
import type { ActiveRun } from '../run/active-run.ts';
import type { Observed } from '../run/thread-kind.ts';
import type { OpenedRun } from './open-run.ts';

/*
 * What the definition of an agent adds to the turn of a run. Without a definition nothing is added.
 *
 *     system text:   sections of the prompt, or the text of the definition
 *                    instructions of the mode
 *                    instructions of the agent's data
 *                    how the gateway works (thread-kind)
 *     tools:         built-in, of the data, of the definition (or of its mode), of the sections that are open
 */

/** The instructions that the operator wrote, of the definition and of the data. */
export interface OperatorInstructions {
  /** The sections. Their text comes before `text`. */
  readonly prompt: Prompt | undefined;
  readonly text: string;
}

type DefinedTurn = Pick<TurnOptions, 'policies' | 'onStepFinish' | 'rewind'> & {
  readonly instructions: OperatorInstructions;
};

export function definedTurn({ agent }: ActiveRun, mode: AgentMode | undefined): DefinedTurn {
  const { setup, config } = agent;
  const { definition } = setup;
  if (definition === undefined) return { instructions: { prompt: undefined, text: config.instructions } };
  const policies = [...definition.policies, ...(mode?.policies ?? [])];
  return {
    instructions: instructionsOf(definition, mode, config.instructions),
    ...(policies.length === 0 ? {} : { policies }),
    ...(mode?.onStepFinish === undefined ? {} : { onStepFinish: mode.onStepFinish }),
    ...(definition.rewind === undefined ? {} : { rewind: { ...definition.rewind, stands: wroteToStore } }),
  };
}

function instructionsOf(
  { instructions }: CompiledDefinition,
  mode: AgentMode | undefined,
  ofData: string,
): OperatorInstructions {
  const prompt = typeof instructions === 'object' ? instructions : undefined;
  const own = typeof instructions === 'string' ? instructions : '';
  // Sections have headings, so the last one needs a heading too.
  const last = prompt === undefined || ofData.trim() === '' ? ofData : `## Further instructions\n\n${ofData.trim()}`;
  return { prompt, text: joinTexts(own, mode?.instructions ?? '', last) };
}

/** What the model reads last in each request: the frame of the thread, what the definition shows, and the instruction of the request. */
export function withObserved(
  { services, run: { agent } }: OpenedRun,
  session: Session,
  ofThread: (() => Observed) | undefined,
): (() => Observed) | undefined {
  const observe = agent.setup.definition?.observe;
  if (observe === undefined) return ofThread;
  return () => {
    const { text = '', ...frame } = ofThread?.() ?? {};
    try {
      const shown: unknown = observe({ read: (slice) => session.read(slice) });
      if (typeof shown !== 'string') throw new TypeError('observe must return a text.');
      return { ...frame, text: joinTexts(shown, text) };
    } catch (error) {
      // As in core, the run goes on. What the thread shows must not be missing for that.
      services.logger.error(
        `observe of the definition of agent ${agent.id} threw. The model is asked without it.`,
        error,
      );
      return { ...frame, text };
    }
  };
}

/** Built-in tools write to the store with the end of their calls, and a rewind does not take that back. */
const wroteToStore: NonNullable<NonNullable<TurnOptions['rewind']>['stands']> = ({ toolName, outcome }) =>
  outcome.status === 'ok' && WRITING.has(toolName);

const WRITING: ReadonlySet<string> = new Set(
  BUILT_IN_TOOL_NAMES.filter((name) => name !== 'read_messages' && name !== 'get_plans'),
);

/** The instructions of the turn, and the system text as it is in the current step. */
export interface SystemText {
  readonly instructions: string | Prompt;
  readonly current: () => string;
}

/** `text` is everything that follows the sections. */
export function systemText({ prompt }: OperatorInstructions, text: string, forRun: ForRun): SystemText {
  if (prompt === undefined) return { instructions: text, current: () => text };
  let current = text;
  const instructions = mapPrompt(prompt, ({ body, tools }) => {
    current = joinTexts(body, text);
    return { body: current, tools: forRun(tools) };
  });
  return { instructions, current: () => current };
}

/** The tools of the definition that the run may use, and how. */
type ForRun = (tools: ToolSet) => ToolSet;

/** All slices that the definition brings, apart from those of tools, which are registered when they are offered. */
export function slicesOf(definition: CompiledDefinition | undefined): CompiledDefinition['slices'] {
  if (definition === undefined) return [];
  const { slices, instructions } = definition;
  return typeof instructions === 'object' ? [...slices, ...(instructions.slices as typeof slices)] : slices;
}

/**
 * The mode of the run: the one that is stored, or else the one that the definition chooses now, which is then stored. A worker that takes
 * the run over goes on in the same mode.
 */
export async function chooseMode({ services, run }: OpenedRun, session: Session): Promise<AgentMode | undefined> {
  const { modes } = run.agent.setup.definition ?? {};
  if (modes === undefined) return undefined;
  if (run.mode !== null) return storedMode(modes, run.mode);
  const rows = await services.store.db
    .selectFrom('inbox_events')
    .select('payload')
    .where('run_id', '=', run.runId)
    .orderBy('id')
    .execute();
  const events = rows.map(({ payload }) => fromJson<InboxEvent>(payload) as { readonly type: string });
  const name: unknown = modes.choose({ session: { read: (slice) => session.read(slice) }, events, now: Date.now() });
  // Otherwise a promise that rejects would end the process.
  if (name instanceof Promise) name.catch(() => {});
  if (typeof name !== 'string' || name === '' || name.length > 100)
    throw new LastcallError(
      'plugin',
      "The definition's mode() must return the name of a mode, of 1–100 characters, and no promise of one.",
    );
  const mode = modes.named(name);
  await fenced(services.store, run.lease, async (tx) => {
    await tx.db.updateTable('runs').set({ mode: name }).where('id', '=', run.runId).execute();
  });
  return mode;
}

/** The mode that the run began in. Another gateway began it, perhaps with another version of the definition. */
function storedMode({ named }: { readonly named: (mode: string) => AgentMode }, mode: string): AgentMode {
  try {
    return named(mode);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LastcallError(
      'unknown_definition',
      `The run began in mode "${mode}", which the definition does not have any more: ${why} Restore it, or cancel the run.`,
      { cause },
    );
  }
}

/** The tools of a step. The same objects give the same set, because what is made of it is kept with it. */
export function toolsInMode(tools: ToolSet, mode: AgentMode | undefined, forRun: ForRun): ToolSet {
  if (mode === undefined) return tools;
  const known = merged.get(tools) ?? new Map<AgentMode, ToolSet>();
  merged.set(tools, known);
  const made = known.get(mode) ?? mergeToolSets(tools, forRun(mode.tools));
  known.set(mode, made);
  return made;
}

const merged = new WeakMap<ToolSet, Map<AgentMode, ToolSet>>();
