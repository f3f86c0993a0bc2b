import type { LanguageModelV4FunctionTool as Tool } from '@ai-sdk/provider';
import type { InboxEvent, ToolResultEvent } from '../../domain/inbox/inbox-event.ts';
import { exampleInput } from './example-input.ts';
import { asksForConfirmation, finishes, isConsequential, isOwn, matchTool } from './match-tool.ts';
import type { RehearsedStep, Scene } from './scene.ts';

export interface RehearsedCall {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What happens in a cycle, call by call: each is yielded, and its result comes back. What is returned is the last text. */
type Script<R = void> = Generator<RehearsedCall, R, RehearsedStep>;

export const CONFESSION = 'This is a rehearsal: I follow simple rules and am not a language model.';

export function* perform(scene: Scene): Script<string> {
  let told = 'I have done what my rules say.';
  // Without an inbox nobody needs a space to be answered: the text is the answer.
  if (typeof scene.topic !== 'string') yield* answerAll(scene, scene.topic);
  // An answer that has come is told: to follow it would be to make the same call again.
  else if (scene.lateAnswers.size > 0)
    told = `It says: ${[...scene.lateAnswers.values()].map((said) => short(said)).join(' ')}`;
  else told = yield* follow(scene, scene.topic);
  const last = scene.isNudged ? lastCall(scene) : undefined;
  if (last !== undefined) yield last;
  return `${CONFESSION} ${told}`;
}

function* answerAll(scene: Scene, events: readonly InboxEvent[]): Script {
  let place = scene.activeSpaceId;
  let hasConfessed = false;
  // Messages first: they name their space, and what belongs to none is told in the last one.
  const messages = events.filter((event) => event.type === 'space_message');
  for (const event of [...messages, ...events.filter(({ type }) => type !== 'space_message')]) {
    const spaceId = event.type === 'space_message' ? event.spaceId : undefined;
    // Agents are not answered: two that follow rules would never stop.
    if (event.type === 'space_message' && event.from.kind === 'agent') continue;
    // It enters before it acts: what it does for somebody is shown where they are.
    const isThere = spaceId === undefined ? place !== undefined : yield* enter(scene, spaceId);
    if (isThere) place = spaceId ?? place;
    const told = yield* answer(scene, event);
    if (!isThere || !isOffered(scene, 'send_message')) continue;
    yield { toolName: 'send_message', input: { text: hasConfessed ? told : `${CONFESSION} ${told}` } };
    hasConfessed = true;
  }
}

function* enter(scene: Scene, spaceId: string): Script<boolean> {
  if (!isOffered(scene, 'enter_space')) return scene.activeSpaceId === spaceId;
  return !(yield { toolName: 'enter_space', input: { spaceId } }).isError;
}

/** Does what an event is about, and gives what is to be said of it. */
function* answer(scene: Scene, event: InboxEvent): Script<string> {
  switch (event.type) {
    case 'space_message':
      return yield* follow(scene, event.text);
    case 'tool_result':
      return yield* goOn(scene, event);
    case 'plan':
      return `It is time for "${event.name}". ${yield* follow(scene, event.instruction)}`;
    case 'service':
      return `The service ${event.source} says "${event.name}": ${short(event.data)}`;
  }
}

/** Does what a text asks for, if there is a tool for it. */
function* follow(scene: Scene, text: string): Script<string> {
  const tool = matchTool(text, scene.tools.filter(acts)) ?? matchTool(text, scene.tools);
  if (tool === undefined) return `${acknowledge(text)} ${offer(scene)}`;
  const confirm = isConsequential(tool) ? scene.tools.find((one) => isOwn(one) && asksForConfirmation(one)) : undefined;
  if (confirm === undefined) return yield* callAndTell(scene, tool, text);
  const asked = yield callOf(scene, confirm, text);
  if (asked.isError) return `I asked with ${confirm.name} before going on, and that failed: ${short(asked.text)}`;
  if (isPending(asked)) return 'I asked for a confirmation, and go on when it comes.';
  return yield* decide(scene, { isYes: isYes(parse(asked.text)), who: 'You', text });
}

function* callAndTell(scene: Scene, tool: Tool, text: string): Script<string> {
  const result = yield callOf(scene, tool, text);
  if (result.isError) return `I called ${tool.name}, and it failed: ${short(result.text)}`;
  if (isPending(result)) return `I called ${tool.name}, and wait for its answer.`;
  return `I called ${tool.name}, and it says: ${short(result.text)}`;
}

/** An answer has come to a call of an earlier cycle. */
function* goOn(scene: Scene, { callId, toolName, input, outcome, resolvedBy }: ToolResultEvent): Script<string> {
  const who = resolvedBy?.name ?? 'Somebody';
  switch (outcome.status) {
    case 'expired':
      return `Nobody answered ${toolName} in time, so I did not go on.`;
    case 'denied':
      return `${who} denied ${toolName}: ${short(outcome.reason)}`;
    case 'error':
      return `${toolName} failed: ${short(outcome.message)}`;
    case 'approved': {
      const said = scene.lateAnswers.get(callId);
      return `${who} approved ${toolName}${said === undefined ? '.' : `, and it says: ${short(said)}`}`;
    }
    case 'ok':
      if (!asksForConfirmation({ name: toolName })) return `${who} answered ${toolName}: ${short(outcome.value)}`;
      return yield* decide(scene, { isYes: isYes(outcome.value), who, text: textsIn(input).join(' ') });
  }
}

/** `text` is what was to be confirmed. */
type Decision = { readonly isYes: boolean; readonly who: string; readonly text: string };

function* decide(scene: Scene, { isYes, who, text }: Decision): Script<string> {
  if (!isYes) return `${who} said no, so I did not go on.`;
  const acting = scene.tools.filter(acts);
  const tool = matchTool(text, acting) ?? acting.find(isConsequential);
  if (tool === undefined) return `${who} said yes, and I have no tool to go on with.`;
  return `${who} said yes. ${yield* callAndTell(scene, tool, text)}`;
}

/** Where it must end with a call: of the tool that looks most like an end, about all that the cycle is about. */
export function lastCall(scene: Scene, isAllowed: (tool: Tool) => boolean = acts): RehearsedCall | undefined {
  const allowed = scene.tools.filter(isAllowed);
  const tool = allowed.find((one) => isOwn(one) && finishes(one)) ?? allowed.find(isOwn) ?? allowed[0];
  const { topic } = scene;
  const texts = typeof topic === 'string' ? [topic] : topic.flatMap((one) => textsIn('text' in one ? one.text : one));
  return tool && callOf(scene, tool, texts.join(' '));
}

function callOf({ now }: Scene, { name: toolName, inputSchema }: Tool, text: string): RehearsedCall {
  return { toolName, input: exampleInput(inputSchema, { text, toolName, now }) };
}

/** Does something for the agent, rather than ask whether it may. */
function acts(tool: Tool): boolean {
  return isOwn(tool) && !asksForConfirmation(tool);
}

function isOffered(scene: Scene, name: string): boolean {
  return scene.tools.some((tool) => tool.name === name);
}

function acknowledge(text: string): string {
  const isGreeting = /^\W*(hi|hello|hey|good (morning|afternoon|evening))\b/i.test(text);
  return isGreeting ? 'Hello!' : `I have read: "${short(text)}"`;
}

function offer(scene: Scene): string {
  const names = scene.tools.filter(isOwn).map(({ name }) => name);
  if (names.length === 0) return 'I have no tools of my own.';
  return `Name what you want, and I call one of: ${names.join(', ')}.`;
}

function isPending({ text }: RehearsedStep): boolean {
  const value = parse(text);
  if (typeof value === 'object' && value !== null) return 'status' in value && value.status === 'pending';
  return /\bpending\b|\bwait(s|ing)? for\b/i.test(String(value));
}

function isYes(value: unknown): boolean {
  if (typeof value === 'string')
    return /^\s*(y|yes|ok|okay|sure|true|confirm(ed)?|approved?|accept(ed)?|agreed?)\b/i.test(value);
  if (typeof value !== 'object' || value === null) return value === true;
  const said = Object.values(value);
  return !said.includes(false) && said.some(isYes);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const LONGEST = 400;

function short(value: unknown = 'nothing'): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const characters = [...text];
  return characters.length <= LONGEST ? text : `${characters.slice(0, LONGEST).join('')}…`;
}
