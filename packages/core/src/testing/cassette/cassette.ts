import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { LastcallError } from '../../errors.ts';
import { parseJson } from '../../parse-json.ts';

/**
 * A cassette: what a model was asked, and what it replied. It is a JSON file that people read and review:
 *
 *     {
 *       "cassette": 1,
 *       "model": { "provider": "openai.chat", "modelId": "gpt-5" },
 *       "tools": { "t1": [ … ] },
 *       "interactions": [
 *         {
 *           "request": { "messages": [ … ], "tools": "t1", "settings": { "temperature": 0 } },
 *           "stream": [
 *             [12, {"type":"text-delta","id":"0","delta":"Hello"}]
 *           ]
 *         },
 *         { "request": { "from": [1, 2], "messages": [ … ] }, "result": { … }, "ms": 40 }
 *       ]
 *     }
 *
 * 1. A request that begins like an earlier one says so: `from: [1, 2]` means the first 2 messages of interaction 1. Lists of tools are stored once.
 * 2. Parts of a stream have the milliseconds since the request. One part is one line.
 * 3. Ids and times differ in each run, so requests have `{{id 1}}` and `{{time}}` in their place: see volatile.ts. A reply that repeats an id of
 *    its request has the same word.
 * 4. It has no headers, no raw bodies and no secrets: see hide-secrets.ts. Long binary data is replaced by its length and a checksum.
 */
export interface Cassette {
  readonly cassette: typeof VERSION;
  readonly model: { readonly provider: string; readonly modelId: string };
  readonly tools: Readonly<Record<string, unknown>>;
  readonly interactions: readonly Interaction[];
}

export interface Interaction extends Reply {
  readonly request: StoredRequest;
}

/** A request without the beginning that it shares with an earlier one. */
interface StoredRequest {
  /** The number of an earlier interaction, counted from 1, and how many of its messages come first. */
  readonly from?: readonly [interaction: number, messages: number];
  readonly messages: readonly unknown[];
  /** The name of a list of tools. */
  readonly tools?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** What came back: parts of a stream, a whole result, or an error, perhaps after some parts. */
export interface Reply {
  readonly stream?: readonly (readonly [ms: number, part: LanguageModelV4StreamPart])[];
  readonly result?: LanguageModelV4GenerateResult;
  readonly error?: StoredError;
  /** How long a whole result or an error took. */
  readonly ms?: number;
}

export interface StoredError {
  readonly name: string;
  readonly message: string;
  readonly statusCode?: number;
  readonly isRetryable?: boolean;
  /** Only the headers that say when to ask again. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
}

export const VERSION = 1;

export class CassetteError extends LastcallError {
  override readonly name: string = 'CassetteError';

  constructor(message: string, options?: { cause?: unknown }) {
    super('cassette', message, options);
  }
}

export function folderError(path: string): CassetteError {
  return new CassetteError(`${path} is a folder. Name a file, e.g. '${path.replace(/[\\/]+$/, '')}/cassette.json'.`);
}

export function readCassette(text: string, path: string): Cassette {
  let value: Partial<Cassette>;
  try {
    value = parseJson(text) as Partial<Cassette>;
  } catch (cause) {
    throw new CassetteError(`${path} is not a cassette: it is not JSON. Record it again.`, { cause });
  }
  if (value?.cassette === undefined)
    throw new CassetteError(`${path} is not a cassette. Name one, or record it again.`);
  if (value.cassette !== VERSION)
    throw new CassetteError(
      `${path} is not a cassette of version ${VERSION}, but of version ${String(value.cassette)}. Record it again.`,
    );
  if (!Array.isArray(value.interactions))
    throw new CassetteError(`${path} is damaged: it has no list of interactions. Record it again.`);
  const damaged = value.interactions.findIndex((one) => !isInteraction(one));
  if (damaged !== -1)
    throw new CassetteError(
      `${path} is damaged: interaction ${damaged + 1} has no request or no reply. Record it again.`,
    );
  return { model: { provider: 'cassette', modelId: 'cassette' }, ...value, tools: value.tools ?? {} } as Cassette;
}

/** People edit cassettes, and resolve conflicts in them. */
function isInteraction(value: Partial<Interaction> | null): boolean {
  if (!Array.isArray(value?.request?.messages)) return false;
  const { stream, result, error } = value;
  return Array.isArray(stream) || [result, error].some((one) => typeof one === 'object' && one !== null);
}

/** One message, one tool and one part of a stream is one line or starts one, so that a diff shows what changed. */
export function printCassette(
  { cassette, model, tools }: Omit<Cassette, 'interactions'>,
  interactions: readonly string[],
): string {
  const lists = Object.entries(tools).map(([name, list]) => `    ${JSON.stringify(name)}: ${printList(list, '    ')}`);
  return [
    '{',
    `  "cassette": ${cassette},`,
    `  "model": ${JSON.stringify(model)},`,
    `  "tools": ${lists.length === 0 ? '{}' : `{\n${lists.join(',\n')}\n  }`},`,
    `  "interactions": [${interactions.join(',')}${interactions.length === 0 ? '' : '\n  '}]`,
    '}',
    '',
  ].join('\n');
}

/** For `printCassette`. */
export function printInteraction({ request, stream, ...reply }: Interaction): string {
  const { messages, ...others } = request;
  const fields = [
    ...Object.entries(others).map(([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)}`),
    `        "messages": ${printList(messages, '        ')}`,
  ];
  const parts = [
    `      "request": {\n${fields.join(',\n')}\n      }`,
    ...(stream === undefined ? [] : [`      "stream": ${printList(stream, '      ')}`]),
    ...Object.entries(reply).map(([name, value]) => `      ${JSON.stringify(name)}: ${indented(value, '      ')}`),
  ];
  return `\n    {\n${parts.join(',\n')}\n    }`;
}

function printList(list: unknown, indent: string): string {
  if (!Array.isArray(list) || list.length === 0) return JSON.stringify(list);
  return `[\n${list.map((one) => `${indent}  ${JSON.stringify(one)}`).join(',\n')}\n${indent}]`;
}

function indented(value: unknown, indent: string): string {
  return (JSON.stringify(value, undefined, 2) ?? 'null').replaceAll('\n', `\n${indent}`);
}
