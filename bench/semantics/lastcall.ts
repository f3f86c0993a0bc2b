import {
  type AnyTool,
  createSession,
  runTurn,
  type Session,
  slice,
  type ToolSet,
  type TurnOptions,
  type TurnResult,
  tool,
} from '@lastcall/core';
import { z } from 'zod';
import { fileJournal } from './file-journal.ts';
import { Interview, nameOf, type Observation, type ScriptedTool, type Subject } from './subject.ts';
import { talkingModel } from './talking-model.ts';

const RESERVE_MS = 50;

interface Written {
  readonly type: 'written';
  readonly value: string;
}

const written = slice<string>('written', { initial: '', on: { written: (_old, { value }: Written) => value } });

export const subject: Subject = {
  name: 'Lastcall',
  means: {
    stop: '`terminal: true`',
    timeout: "a tool's `timeoutMs`",
    cap: '`maxSteps`',
    deadline: `\`deadline\`, with \`reserveMs: ${RESERVE_MS}\``,
    approval: '`approval: true`, and `runTurn` on the transcript with `answers`',
    state: 'the session',
    keeping: 'a `Journal` in a file',
  },
  run(script) {
    const interview = new Interview(script.model);
    const session = createSession({ slices: [written] });
    const tools: ToolSet = Object.fromEntries(
      Object.entries(script.tools).map(([name, scripted]) => [name, toTool(scripted)]),
    );
    const kept = script.directory === undefined ? undefined : fileJournal(script.directory);
    const options: TurnOptions = {
      model: talkingModel(interview),
      tools,
      session,
      ...(script.maxSteps === undefined ? {} : { maxSteps: script.maxSteps }),
      ...(script.deadlineMs === undefined ? {} : { deadline: Date.now() + script.deadlineMs, reserveMs: RESERVE_MS }),
      ...(kept === undefined ? {} : { journal: kept.journal }),
    };
    const transcript = kept?.transcript;
    const begin = transcript === undefined ? { prompt: 'Go.' } : { transcript };
    return observe({ ...options, ...begin }, interview, session);
  },
};

function toTool({ execute, stop, timeoutMs, approval }: ScriptedTool): AnyTool {
  return tool({
    description: 'A scripted tool.',
    inputSchema: z.object({}),
    ...(stop === undefined ? {} : { terminal: stop }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(approval === undefined ? {} : { approval }),
    execute: (_input, ctx) => execute({ write: (value) => ctx.session.dispatch<Written>({ type: 'written', value }) }),
  }) as AnyTool;
}

async function observe(options: TurnOptions, interview: Interview, session: Session): Promise<Observation> {
  try {
    return toObservation(await runTurn(options), options, interview, session);
  } catch (error) {
    return { ...common(interview, session), end: 'rejected', answer: '', why: nameOf(error) };
  }
}

function toObservation(
  { response, stop, pending, transcript }: TurnResult,
  options: TurnOptions,
  interview: Interview,
  session: Session,
): Observation {
  const seen = { ...common(interview, session), answer: response, why: stop.reason };
  const [waiting] = pending;
  if (waiting === undefined) return { ...seen, end: 'finished' };
  const { prompt: _, ...rest } = options;
  return {
    ...seen,
    end: 'waiting',
    decide: (decision) => {
      const answer = decision === 'approve' ? { approve: true as const } : { deny: 'Not today.' };
      return observe({ ...rest, transcript, answers: { [waiting.callId]: answer } }, interview, session);
    },
  };
}

function common(interview: Interview, session: Session): Pick<Observation, 'asked' | 'shown' | 'written'> {
  return { asked: interview.asked, shown: interview.shown, written: () => session.read(written) || undefined };
}
