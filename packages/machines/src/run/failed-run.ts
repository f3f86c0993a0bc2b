import type { Stop } from '@lastcall/core';
import { RunFailed } from '../errors.ts';
import type { MachineStep } from './machine-step.ts';

/** The step as a run yields it. If it failed, `error` says why, and reading its response throws. */
export function toldStep(step: MachineStep, signal: AbortSignal): MachineStep {
  if (step.yieldReason !== 'error') return step;
  const { message, cause } = whyFailed(step, signal);
  return withoutAnswer({ ...step, error: cause ?? new RunFailed(message) }, message);
}

/**
 * The value with a response and an output that throw when they are read: code that only looks for the answer would
 * mistake a failed run for one with an empty answer. They are not enumerable, so that logging, copying and comparing
 * the value do not throw.
 */
export function withoutAnswer<T extends { readonly error?: unknown }>(value: T, message: string): T & NoAnswer {
  const get = (): never => {
    const { error } = value;
    throw error instanceof RunFailed ? new RunFailed(message) : new RunFailed(message, { cause: error });
  };
  const answer = { get, enumerable: false, configurable: true };
  return Object.defineProperties(value, { response: answer, output: answer }) as T & NoAnswer;
}

interface NoAnswer {
  readonly response: never;
  readonly output: never;
}

/** The reason in words, and the error that was thrown, if there was one. */
export function whyFailed(
  { error, leaves }: Pick<MachineStep, 'error' | 'leaves'>,
  signal?: AbortSignal,
): { readonly message: string; readonly cause?: unknown } {
  if (error instanceof RunFailed) return { message: error.message };
  if (error !== undefined) return { message: `The run failed: ${textOf(error)}`, cause: error };
  const stop = leaves.find(({ yieldReason }) => yieldReason === 'error')?.stop ?? { reason: 'deadline' };
  if (stop.reason !== 'aborted' || signal?.aborted !== true) return { message: `The run failed: ${inWords(stop)}` };
  return { message: `The run failed: ${textOf(signal.reason)}`, cause: signal.reason };
}

function inWords(stop: Stop): string {
  switch (stop.reason) {
    case 'deadline':
      return 'its deadline passed before it was done.';
    case 'budget':
      return `its budget of ${stop.dimension === 'toolCalls' ? 'tool calls' : stop.dimension} is used up.`;
    case 'length':
      return "the model's reply was cut off at its length limit, twice.";
    case 'content_filter':
      return "the provider's content filter stopped the model's reply.";
    default:
      return `it stopped (${stop.reason}).`;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
