import type { LanguageModelV4FunctionTool as Tool } from '@ai-sdk/provider';
import type { InboxEvent, ToolResultEvent } from '../../domain/inbox/inbox-event.ts';
import { CONFESSION } from './confession.ts';
import { exampleInput } from './example-input.ts';
import { asksForConfirmation, finishes, isConsequential, isOwn, matchTool } from './match-tool.ts';
import type { Scene, Step } from './scene.ts';

export interface Call {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The calls of a run: each is yielded, and its result comes back. The return value is the text to say. */
type Script<R> = Generator<Call, R, Step>;

export function* perform(scene: Scene): Script<string> {
  const { topic } = scene;
  // Without an inbox no space has to be entered: the text is the answer.
  const told = typeof topic === 'string' ? yield* answerText(scene, topic) : yield* answerAll(scene, topic);
  const last = lastCall(scene);
  if (last !== undefined) yield last;
  return opening(scene) + told;
}

/** It says what it is once: people who read it again in each message stop reading. */
function opening({ hasConfessed }: Scene): string {
  return hasConfessed ? '' : `${CONFESSION} `;
}

function* answerText(scene: Scene, text: string): Script<string> {
  // If an answer to an earlier call has arrived, it is reported. Following the text would make the same call again.
  if (scene.lateAnswers.size === 0) return yield* follow(scene, text);
  return `It says: ${[...scene.lateAnswers.values()].map(short).join(' ')}`;
}

function* answerAll(scene: Scene, events: readonly InboxEvent[]): Script<string> {
  let isAnywhere = scene.activeSpaceId !== undefined;
  let start = opening(scene);
  const unsent: string[] = [];
  // Messages come first, because they name their space. Events without a space are reported in the last space.
  const inOrder = events.toSorted((one, other) => Number(isMessage(other)) - Number(isMessage(one)));
  // Messages of agents are not answered: two rehearsals would never stop.
  const answered = inOrder.filter((event) => !isMessage(event) || event.from.kind !== 'agent');
  for (const event of answered) {
    // It enters the space before it acts, so that people there see the calls.
    const isThere = isMessage(event) ? yield* enter(scene, event.spaceId) : isAnywhere;
    isAnywhere ||= isThere;
    const told = yield* answer(scene, event);
    const isSent =
      isThere && isOffered(scene, 'send_message') && (yield* send(scene, start + told, event === answered.at(-1)));
    if (isSent) start = '';
    else unsent.push(told);
  }
  return unsent.length === 0 ? 'I have done what my rules say.' : unsent.join(' ');
}

/** The last message ends the run, so that the model is not asked again. */
function* send(scene: Scene, text: string, isLast: boolean): Script<boolean> {
  return !(yield { toolName: 'send_message', input: { text, ...(isLast && canEnd(scene) ? { final: true } : {}) } })
    .isError;
}

function canEnd({ tools, mustCall }: Scene): boolean {
  const schema = tools.find(({ name }) => name === 'send_message')?.inputSchema;
  return !mustCall && schema?.properties !== undefined && Object.hasOwn(schema.properties, 'final');
}

function isMessage(event: InboxEvent): event is Extract<InboxEvent, { type: 'space_message' }> {
  return event.type === 'space_message';
}

function* enter(scene: Scene, spaceId: string): Script<boolean> {
  if (!isOffered(scene, 'enter_space')) return scene.activeSpaceId === spaceId;
  return !(yield { toolName: 'enter_space', input: { spaceId } }).isError;
}

/** Acts on an event, and returns the text to say about it. */
function* answer(scene: Scene, event: InboxEvent): Script<string> {
  switch (event.type) {
    case 'space_message':
      return yield* follow(scene, event.text);
    case 'tool_result':
      return yield* report(scene, event);
    case 'plan':
      return `It is time for "${event.name}". ${yield* follow(scene, event.instruction)}`;
    case 'service':
      return `The service ${event.source} says "${event.name}": ${short(event.data)}`;
    // Only conversations receive chat requests, and they have no inbox. Commands are for machines, not for models.
    case 'chat':
    case 'command':
      return explain(scene, '');
  }
}

/** Does what a text asks for, if there is a tool for it. */
function* follow(scene: Scene, text: string): Script<string> {
  const tool = matchTool(text, scene.tools.filter(acts)) ?? matchTool(text, scene.tools);
  if (tool === undefined) return explain(scene, text);
  const confirm = isConsequential(tool) ? scene.tools.find((one) => isOwn(one) && asksForConfirmation(one)) : undefined;
  if (confirm === undefined) return yield* callAndTell(scene, tool, text);
  const asked = yield callOf(scene, confirm, text);
  if (asked.isError) return `I asked with ${confirm.name} before going on, and that failed: ${short(asked.text)}`;
  if (isWaiting(asked)) return 'I asked for a confirmation, and go on when it comes.';
  return yield* decide(scene, { answer: parse(asked.text), who: 'You', text });
}

function* callAndTell(scene: Scene, tool: Tool, text: string): Script<string> {
  const result = yield callOf(scene, tool, text);
  if (result.isError) return `I called ${tool.name}, and it failed: ${short(result.text)}`;
  if (isWaiting(result)) return `I called ${tool.name}, and wait for its answer.`;
  return `I called ${tool.name}, and it says: ${short(result.text)}`;
}

/** Reports the outcome of a call of an earlier run, and continues if that was a confirmation. */
function* report(scene: Scene, { callId, toolName, input, outcome, resolvedBy }: ToolResultEvent): Script<string> {
  const who = resolvedBy?.name ?? 'Someone';
  const said = scene.lateAnswers.get(callId);
  switch (outcome.status) {
    case 'expired':
      return `No one answered ${toolName} in time, so I did not go on.`;
    case 'denied':
      return `${who} denied ${toolName}: ${short(outcome.reason)}`;
    case 'error':
      return `${toolName} failed: ${short(outcome.message)}`;
    case 'approved':
      return `${who} approved ${toolName}${said === undefined ? '.' : `, and it says: ${short(said)}`}`;
    case 'answered':
      return `${who} answered what ${toolName} asked${said === undefined ? '.' : `, and it says: ${short(said)}`}`;
    case 'ok':
      if (!asksForConfirmation({ name: toolName })) return `${who} answered ${toolName}: ${short(outcome.value)}`;
      return yield* decide(scene, { answer: outcome.value, who, text: textsIn(input).join(' ') });
  }
}

/** `text` is the request that had to be confirmed. */
function* decide(scene: Scene, { answer, who, text }: { answer: unknown; who: string; text: string }): Script<string> {
  if (!isYes(answer)) return `${who} said no, so I did not go on.`;
  const acting = scene.tools.filter(acts);
  const tool = matchTool(text, acting) ?? acting.find(isConsequential);
  if (tool === undefined) return `${who} said yes, and I have no tool to go on with.`;
  return `${who} said yes. ${yield* callAndTell(scene, tool, text)}`;
}

/** The call that must end the run: of the tool that looks most like an end, with all topics of the run. */
function lastCall(scene: Scene): Call | undefined {
  const { topic, tools, steps, isNudged, mustCall } = scene;
  const allowed = isNudged ? tools.filter(acts) : mustCall ? tools : [];
  const tool = allowed.find((one) => isOwn(one) && finishes(one)) ?? allowed.find(isOwn) ?? allowed[0];
  // One call is enough, even if the host demands a call again and again.
  if (tool === undefined || (!isNudged && steps.some(({ toolName }) => toolName === tool.name))) return undefined;
  const texts = typeof topic === 'string' ? [topic] : topic.flatMap((one) => textsIn('text' in one ? one.text : one));
  const found = steps.filter((one) => isOwn({ name: one.toolName }) && !one.isError).map((one) => short(one.text));
  return callOf(scene, tool, [texts.join(' '), ...found].join('\n'));
}

function callOf({ now }: Scene, { name: toolName, inputSchema }: Tool, text: string): Call {
  return { toolName, input: exampleInput(inputSchema, { text, toolName, now }) };
}

/** True if the tool does something, rather than ask whether it may. */
function acts(tool: Tool): boolean {
  return isOwn(tool) && !asksForConfirmation(tool);
}

function isOffered(scene: Scene, name: string): boolean {
  return scene.tools.some((tool) => tool.name === name);
}

function explain(scene: Scene, text: string): string {
  const isGreeting = /^\W*(hi|hello|hey|good (morning|afternoon|evening))\b/i.test(text);
  const names = scene.tools.filter(isOwn).map(({ name }) => name);
  const offer = `Name what you want, and I call one of: ${names.join(', ')}.`;
  return `${isGreeting ? 'Hello!' : `I have read: "${short(text)}"`} ${names.length === 0 ? 'I have no tools of my own.' : offer}`;
}

function isWaiting({ text }: Step): boolean {
  const value = parse(text);
  if (typeof value === 'object' && value !== null) return 'status' in value && value.status === 'pending';
  return /\bpending\b|\bwait(s|ing)? for\b/i.test(text);
}

function isYes(value: unknown): boolean {
  if (typeof value === 'string')
    return /^\s*(y|yes|ok(ay)?|sure|true|(confirm|accept)(ed)?|(approve|agree)d?)\b/i.test(value);
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

/** Fields as words; what is nested stays JSON. An image is shown beside the message, so its address is not read out. */
function inWords(value: unknown, written: unknown): string {
  const asWritten = typeof written === 'string' ? written : JSON.stringify(written);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return asWritten;
  if ('url' in value && 'mediaType' in value) return `here is the ${String(value.mediaType).split('/')[0]}.`;
  const fields = Object.entries(value);
  if (fields.length === 0 || fields.some(([, one]) => typeof one === 'object' && one !== null)) return asWritten;
  return fields.map(([name, one]) => `${name} ${String(one)}`).join(', ');
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function short(value: unknown = 'nothing'): string {
  const characters = [...inWords(typeof value === 'string' ? parse(value) : value, value)];
  return characters.length <= 400 ? characters.join('') : `${characters.slice(0, 400).join('')}…`;
}
