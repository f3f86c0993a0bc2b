import type { StandardSchemaV1 } from '@standard-schema/spec';
import { sameJson } from '../dispatch/same-json.ts';
import { OptionsError } from '../errors.ts';
import { parseJson } from '../parse-json.ts';
import type { Outcome } from '../results/outcome.ts';
import { jsonSchema } from '../schema/json-schema.ts';
import type { JsonSchemaObject } from '../schema/json-schema-object.ts';
import type { Score, ScoreContext, ScoreValue } from './evaluation.ts';

/** The response is the expected text, apart from spaces around it; or the output is the expected value. Default: `expected` of the case. */
export function exact(wanted?: unknown): Score {
  return (context) => {
    const expected = wanted ?? needExpected(context, 'exact');
    if (typeof expected === 'string')
      return judged(context.response.trim() === expected.trim(), () => `It is ${quote(context.response)}.`);
    return judged(
      sameJson(context.output, expected),
      () => `It is ${quote(JSON.stringify(context.output) ?? 'nothing')}.`,
    );
  };
}

/** The response contains the text, or matches the pattern. Capitals do not matter in a text. Default: `expected` of the case. */
export function contains(wanted?: string | RegExp | readonly (string | RegExp)[]): Score {
  return (context) => {
    const expected = [wanted ?? (needExpected(context, 'contains') as string | RegExp)].flat() as (string | RegExp)[];
    const missing = expected.filter((one) => !isIn(one, context.response));
    return judged(missing.length === 0, () => `It lacks ${missing.map(String).map(quote).join(', ')}.`);
  };
}

/** The output, or the response as JSON, is valid. */
export function schema(wanted: StandardSchemaV1 | JsonSchemaObject): Score {
  const standard = '~standard' in wanted ? (wanted as StandardSchemaV1) : jsonSchema(wanted as JsonSchemaObject);
  return async ({ output, response }) => {
    const value = output ?? parsed(response);
    if (value === undefined) return { value: 0, reason: 'The response is not JSON.' };
    const { issues } = await standard['~standard'].validate(value);
    return judged(issues === undefined, () => issues?.map(({ message }) => message).join('; ') ?? '');
  };
}

/**
 * These tools were called, in this order. Other calls may be between them; with `only: true` there are none. Calls that failed count too.
 */
export function calledTools(names: readonly string[], { only = false }: { readonly only?: boolean } = {}): Score {
  return ({ settlements }) => {
    const called = settlements.map(({ toolName }) => toolName);
    let next = 0;
    for (const name of called) if (name === names[next]) next++;
    const isRight = next === names.length && (!only || called.length === names.length);
    return judged(isRight, () => `Called: ${called.length === 0 ? 'nothing' : called.join(', ')}.`);
  };
}

/** All calls of these tools ended so, and there is at least one of each. Without names: every call ended with `ok`. */
export function settled(wanted?: Readonly<Record<string, Outcome['status']>>): Score {
  return ({ settlements }) => {
    const wrong = settlements.filter(({ toolName, outcome }) => {
      const status = wanted === undefined ? 'ok' : wanted[toolName];
      return status !== undefined && outcome.status !== status;
    });
    const missing = Object.keys(wanted ?? {}).filter((name) => !settlements.some(({ toolName }) => toolName === name));
    return judged(wrong.length + missing.length === 0, () =>
      [
        ...wrong.map(({ toolName, outcome }) => `${toolName} ended with ${outcome.status}`),
        ...missing.map((name) => `${name} was not called`),
      ].join('; '),
    );
  };
}

/** The run cost at most so much: money if prices are known, and tokens. */
export function cost({ most, mostTokens }: { readonly most?: number; readonly mostTokens?: number }): Score {
  if (most === undefined && mostTokens === undefined) throw new OptionsError('cost', 'needs "most" or "mostTokens".');
  return (context) => {
    if (most !== undefined && context.cost === undefined)
      return { value: 0, reason: 'The cost is not known. Set prices in the configuration, or use mostTokens.' };
    const tokens = context.usage?.totalTokens ?? 0;
    const isRight =
      (context.cost ?? 0) <= (most ?? Number.POSITIVE_INFINITY) && tokens <= (mostTokens ?? Number.POSITIVE_INFINITY);
    return judged(isRight, () => `It cost ${context.cost ?? '?'} and used ${tokens} tokens.`);
  };
}

/** The run took at most so long. */
export function latency({ mostMs }: { readonly mostMs: number }): Score {
  return ({ ms }) => judged(ms <= mostMs, () => `It took ${Math.round(ms)} ms.`);
}

function judged(isRight: boolean, why: () => string): ScoreValue {
  return isRight ? 1 : { value: 0, reason: why() };
}

function needExpected({ case: { name, expected } }: ScoreContext, score: string): unknown {
  if (expected === undefined)
    throw new OptionsError('expected', `is missing in the case "${name}". The score ${score}() compares with it.`);
  return expected;
}

function isIn(wanted: string | RegExp, text: string): boolean {
  // A pattern with the flag g remembers where it was.
  if (wanted instanceof RegExp) return new RegExp(wanted.source, wanted.flags.replace('g', '')).test(text);
  return text.toLowerCase().includes(String(wanted).toLowerCase());
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)} …` : text);
}
