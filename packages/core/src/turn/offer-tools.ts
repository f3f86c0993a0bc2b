import { assertListed, listedNames } from '../contract/terminating.ts';
import { assertToolSet, mergeToolSets, type ToolSet } from '../contract/tool-set.ts';
import { OptionsError, ToolDefinitionError } from '../errors.ts';
import { renderPrompt } from '../prompt/build-prompt.ts';
import { withTerminalTools } from '../prompt/terminal-tools.ts';
import type { AnySlice } from '../session/slice.ts';
import { type AdvertisedTool, advertise, isOffered } from '../tools/advertise.ts';
import { type ResolvedTool, resolveTool } from '../tools/resolved-tool.ts';
import type { PlanRules, ToolTraits } from './batch-plan.ts';
import { isRewindTool } from './rewind-tool.ts';
import type { StepTools } from './step-tools.ts';
import { openReply, type Turn } from './turn.ts';

/** What the model is offered in this step. Throws for tools that cannot work, before the model is asked. */
export function stepTools(turn: Turn, canRewind: boolean): StepTools | Promise<StepTools> {
  const { tools, body } = collectTools(turn);
  const offered = canRewind ? tools : withoutRewind(tools);
  turn.session.adopt(slicesOf(offered));
  const { lastTools: last } = turn;
  return last?.tools === offered && last.body === body && fixed.has(offered) ? last : describeStep(turn, offered, body);
}

/** Parts that do not change from step to step are described once and reused synchronously. */
function describeStep(turn: Turn, offered: ToolSet, body: string): StepTools | Promise<StepTools> {
  const known = fixed.get(offered);
  return known === undefined ? describeFresh(turn, offered, body) : withRules(turn, offered, body, known);
}

async function describeFresh(turn: Turn, offered: ToolSet, body: string): Promise<StepTools> {
  assertAnswerable(offered);
  const advertised = await advertise(offered, { session: turn.session, pendingAnswered: true });
  if (isFixed(offered)) fixed.set(offered, advertised);
  return withRules(turn, offered, body, advertised);
}

function withRules(turn: Turn, offered: ToolSet, body: string, advertised: readonly AdvertisedTool[]): StepTools {
  const { session, contract } = turn;
  const listed = contract === undefined ? undefined : listedNames(contract, offered);
  const plan: PlanRules = {
    traitsOf: (name) => traitsOf(offered, name),
    listed,
    cancelRest: turn.rules.onError === 'cancel-rest',
    transitions: turn.options.batch?.transitions ?? 'in-place',
  };
  const system = withTerminalTools(body, listed === undefined ? offered : pickTools(offered, listed), session);
  const hasRewind = Object.values(offered).some(isRewindTool);
  turn.lastTools = { tools: offered, advertised, plan, body, system, hasRewind };
  return turn.lastTools;
}

const slices = new WeakMap<ToolSet, readonly AnySlice[]>();

function slicesOf(tools: ToolSet): readonly AnySlice[] {
  const known = slices.get(tools);
  if (known !== undefined) return known;
  const all = Object.entries(tools).flatMap(([name, definition]) => resolveTool(name, definition).slices);
  slices.set(tools, all);
  return all;
}

/** A terminal tool gives the response immediately: one that waits for an answer would not end the turn. */
function assertAnswerable(tools: ToolSet): void {
  for (const [name, definition] of Object.entries(tools)) {
    const { terminal, execute, origin } = resolveTool(name, definition);
    if (terminal && execute === undefined && origin !== 'provider')
      throw new ToolDefinitionError(name, 'terminal', 'cannot be pending: give the tool an execute.');
  }
}

/** Under a contract, a terminal tool that is not listed does not end the run. */
function pickTools(tools: ToolSet, names: ReadonlySet<string>): ToolSet {
  return Object.fromEntries(Object.entries(tools).filter(([name]) => names.has(name)));
}

const fixed = new WeakMap<ToolSet, readonly AdvertisedTool[]>();

function isFixed(tools: ToolSet): boolean {
  return Object.values(tools).every(({ description }) => typeof description !== 'function');
}

function collectTools(turn: Turn): { tools: ToolSet; body: string } {
  const { tools = noTools, instructions, params } = turn.options;
  // If a batch was found unsettled, it gets the tools of the step that asked for it.
  const step = openReply(turn)?.step ?? turn.progress.steps + 1;
  const own = typeof tools === 'function' ? tools({ step, session: turn.session }) : tools;
  assertToolSet(own, 'Option "tools"');
  if (typeof instructions !== 'object') return { tools: own, body: instructions ?? '' };
  const rendered = renderPrompt(instructions, { session: turn.session, ...(params === undefined ? {} : { params }) });
  return {
    body: rendered.body,
    tools: Object.keys(own).length === 0 ? rendered.tools : mergeOnce(rendered.tools, own),
  };
}

const joined = new WeakMap<ToolSet, WeakMap<ToolSet, ToolSet>>();

/** The same two sets give the same object, so that what was made of it is found again in the next step. */
function mergeOnce(one: ToolSet, other: ToolSet): ToolSet {
  const known = joined.get(one) ?? new WeakMap<ToolSet, ToolSet>();
  joined.set(one, known);
  const made = known.get(other) ?? mergeToolSets(one, other);
  known.set(other, made);
  return made;
}

const noTools: ToolSet = {};

const withoutRewindCache = new WeakMap<ToolSet, ToolSet>();

function withoutRewind(tools: ToolSet): ToolSet {
  const known = withoutRewindCache.get(tools);
  if (known !== undefined) return known;
  const kept = Object.entries(tools).filter(([, definition]) => !isRewindTool(definition));
  const rest = kept.length === Object.keys(tools).length ? tools : Object.fromEntries(kept);
  withoutRewindCache.set(tools, rest);
  return rest;
}

/** The tool with that name as the runtime uses it. */
export function toolNamed(tools: ToolSet, name: string): ResolvedTool | undefined {
  const definition = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (definition === undefined) return undefined;
  const tool = resolveTool(name, definition);
  return isOffered(tool, true) ? tool : undefined;
}

function traitsOf(tools: ToolSet, name: string): ToolTraits | undefined {
  const tool = toolNamed(tools, name);
  if (tool === undefined) return undefined;
  const { terminal, transition, effects, approval } = tool;
  return { terminal, transition, rewind: isRewindTool(tool.definition), effects, needsApproval: approval !== false };
}

/** Refuses a terminating contract that no tool could fulfil, before any model call. */
export function assertContract(turn: Turn): void {
  if (turn.contract === undefined) return;
  const { tools } = collectTools(turn);
  assertListed(turn.contract, tools);
  for (const name of listedNames(turn.contract, tools)) {
    if (toolNamed(tools, name)?.transition === true)
      throw new OptionsError('terminating.toolIds', `lists "${name}", which is a transition.`);
  }
}
