import { inspect } from 'node:util';
import { fakeClock, scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  charter,
  createMachine,
  type Machine,
  type MachineResult,
  type MachineStep,
  node,
  RunFailed,
  type RunMachineOptions,
  runMachine,
  runMachineToCompletion,
  suspend,
} from '../../src/index.ts';

const start = node({
  instructions: 'start',
  tools: (tool) => ({
    look: tool({ description: 'Looks.', inputSchema: z.object({}), effects: 'none', execute: () => 'seen' }),
  }),
  transitions: { wait: { handler: () => suspend('a signature') } },
});
const make = (): Machine => createMachine(charter({ nodes: { start } }), { root: 'start' });
const broken = new Error('The provider is gone.');
const failing = () =>
  scriptedModel([
    () => {
      throw broken;
    },
  ]);

function thrownBy(read: () => unknown): RunFailed {
  try {
    read();
  } catch (error) {
    if (error instanceof RunFailed) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

async function failed(options: Partial<RunMachineOptions> = {}): Promise<MachineResult> {
  return await runMachineToCompletion(make(), { model: failing(), input: 'Go.', modelRetries: 0, ...options });
}

async function stepsOf(options: Partial<RunMachineOptions> = {}): Promise<MachineStep[]> {
  const steps: MachineStep[] = [];
  const given = { model: failing(), input: 'Go.', modelRetries: 0, ...options };
  for await (const step of runMachine(make(), given)) steps.push(step);
  return steps;
}

describe('the answer of a failed run throws when it is read', () => {
  test('[M32] reading the response of a failed run throws, with the cause', async () => {
    const result = await failed();
    expect(result.yieldReason).toBe('error');
    const error = thrownBy(() => result.response);
    expect(error).toMatchObject({ name: 'RunFailed', code: 'run_failed' });
    expect(error.message).toContain('The provider is gone.');
    expect(rootOf(error)).toBe(broken);
    expect(thrownBy(() => result.output).cause).toBe(error.cause);
  });

  test('[M32] the error names the reason of the run also if its signal is aborted when it is over', async () => {
    const abort = new AbortController();
    const filtered = { text: 'I', finishReason: { unified: 'content-filter', raw: undefined } } as const;
    const result = await failed({
      model: scriptedModel([filtered]),
      signal: abort.signal,
      onEvent: ({ type }) => type === 'turn.end' && abort.abort(new Error('Too late.')),
    });
    expect(thrownBy(() => result.response).message).toContain('content filter');
  });

  test('[M32] so does destructuring it, as the documentation does', async () => {
    const result = await failed();
    expect(() => {
      const { response, yieldReason } = result;
      return [response, yieldReason];
    }).toThrow('The provider is gone.');
  });

  test('[M32] so does the response of a failed step', async () => {
    const [step] = await stepsOf();
    expect(step).toMatchObject({ yieldReason: 'error', done: true });
    expect(rootOf(thrownBy(() => step?.response))).toBe(broken);
    expect(rootOf(thrownBy(() => step?.output))).toBe(broken);
  });

  test('[M32] a loop that prints responses cannot miss the failure', async () => {
    const printed: string[] = [];
    const look = async () => {
      for await (const step of runMachine(make(), { model: failing(), input: 'Go.', modelRetries: 0 }))
        if (step.response !== undefined) printed.push(step.response);
    };
    await expect(look()).rejects.toThrow('The provider is gone.');
    expect(printed).toEqual([]);
  });

  const reasons: Record<string, [options: () => Partial<RunMachineOptions>, says: string]> = {
    'a deadline': [
      () => {
        const clock = fakeClock(1000);
        return { clock, deadline: 1000, model: scriptedModel(['Never said.']) };
      },
      'deadline',
    ],
    'a signal': [() => ({ signal: AbortSignal.abort(new Error('The host shuts down.')) }), 'The host shuts down.'],
    'a budget': [
      () => ({ budget: { toolCalls: 1 }, model: scriptedModel([[{ toolName: 'look' }, { toolName: 'look' }], 'No.']) }),
      'budget',
    ],
    'a filter': [
      () => ({ model: scriptedModel([{ text: 'x', finishReason: { unified: 'content-filter', raw: undefined } }]) }),
      'filter',
    ],
  };
  for (const [what, [options, says]] of Object.entries(reasons)) {
    test(`[M32] a run that ${what} ended says so too`, async () => {
      const result = await failed(options());
      expect(result.yieldReason).toBe('error');
      expect(thrownBy(() => result.response).message).toContain(says);
      expect(thrownBy(() => result.steps.at(-1)?.response).message).toContain(says);
    });
  }

  test('[M32] replies before the failure stay readable in their steps', async () => {
    const machine = make();
    const model = scriptedModel([
      'First.',
      () => {
        throw broken;
      },
    ]);
    const steps: MachineStep[] = [];
    for await (const step of runMachine(machine, { model, input: 'Go.', modelRetries: 0 })) {
      steps.push(step);
      if (steps.length === 1) machine.enqueue('And then?');
    }
    expect(steps[0]?.response).toBe('First.');
    expect(() => steps[1]?.response).toThrow(RunFailed);
  });
});

describe('a failed result is still a value that can be inspected', () => {
  test('[M32] logging, copying, storing and comparing it do not throw, and show the failure', async () => {
    const result = await failed();
    const [step] = result.steps;
    for (const one of [result, step as MachineStep]) {
      expect(inspect(one, { depth: 4 })).toContain('The provider is gone.');
      expect(JSON.parse(JSON.stringify(one))).toMatchObject({ yieldReason: 'error' });
      expect({ ...one }).toMatchObject({ yieldReason: 'error', error: broken });
      expect(Object.keys(one)).not.toContain('response');
      expect(one).toEqual({ ...one });
      expect(one).toMatchObject({ yieldReason: 'error' });
      expect(structuredClone({ ...one, leaves: [], steps: [] })).toMatchObject({ yieldReason: 'error' });
    }
  });
});

describe('a run that did not fail has its response as before', () => {
  test('[M32] a run that answers, waits or has used up its steps does not throw', async () => {
    const answered = await failed({ model: scriptedModel(['Hello.']) });
    expect(answered).toMatchObject({ response: 'Hello.', yieldReason: 'end_turn' });
    expect(Object.keys(answered)).toContain('response');
    const waiting = await failed({ model: scriptedModel([{ toolName: 'transition_wait' }]) });
    expect(waiting).toMatchObject({ response: '', yieldReason: 'awaiting_resume' });
    const spent = await failed({ model: scriptedModel([{ toolName: 'look' }]), maxSteps: 1 });
    expect(spent).toMatchObject({ response: '', yieldReason: 'max_steps' });
    expect(spent.steps.map((step) => step.response)).toEqual([undefined, undefined]);
  });
});

/** The error at the end of the chain of causes. */
function rootOf(error: Error): unknown {
  let at: unknown = error;
  while (at instanceof Error && at.cause !== undefined) at = at.cause;
  return at;
}
