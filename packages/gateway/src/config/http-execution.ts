import { z } from 'zod';
import { parseTemplate, templateProblem, usesInput } from './template.ts';
import type { ToolExecution } from './tool-config.ts';

/** How a tool calls a URL. Strings are templates, see `Template`. */
export interface HttpExecution {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: the input itself is sent. */
  readonly body?: unknown;
  /** Milliseconds. */
  readonly timeout?: number | undefined;
  /** The keys that sign the request by the Standard Webhooks specification: `${env.NAME}`, the newest first. */
  readonly signingSecrets: readonly string[];
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Headers that the connection sets, or that would send the request elsewhere. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'expect', 'te', 'trailer'],
  ...['proxy-authorization', 'proxy-connection', 'webhook-id', 'webhook-timestamp', 'webhook-signature'],
]);

const templateText = z.string().superRefine((text, ctx) => {
  const message = templateProblem(text);
  if (message !== undefined) ctx.addIssue({ code: 'custom', message });
});

const urlTemplate = templateText.superRefine((text, ctx) => {
  const message = templateProblem(text) === undefined ? urlProblem(text) : undefined;
  if (message !== undefined) ctx.addIssue({ code: 'custom', message });
});

const headersSchema = z.record(z.string(), templateText).superRefine((headers, ctx) => {
  const names = new Set<string>();
  for (const name of Object.keys(headers)) {
    const message = headerProblem(name.toLowerCase(), names);
    if (message !== undefined) ctx.addIssue({ code: 'custom', path: [name], message });
    names.add(name.toLowerCase());
  }
});

export const secretTemplate: z.ZodType<string> = z
  .string()
  .regex(/^\$\{env\.[A-Za-z_]\w{0,127}\}$/, { error: `must be "\${env.NAME}".` });

const httpSchema = z
  .strictObject({
    url: urlTemplate.optional(),
    webhookUrl: urlTemplate.optional(),
    method: z
      .preprocess((given) => (typeof given === 'string' ? given.toUpperCase() : given), z.enum(METHODS))
      .optional(),
    headers: headersSchema.optional(),
    body: z.unknown().optional(),
    timeout: z.int().min(1).max(86_400_000).optional(),
    signingSecret: z.union([secretTemplate, z.array(secretTemplate).min(1).max(5)]).optional(),
  })
  .superRefine((execution, ctx) => {
    const add = (path: PropertyKey[], message: string): void => ctx.addIssue({ code: 'custom', path, message });
    if (execution.url !== undefined && execution.webhookUrl !== undefined)
      add(['webhookUrl'], 'is set twice: use either url or webhookUrl.');
    if (execution.body === undefined) return;
    if (execution.method === 'GET' || execution.method === 'HEAD')
      add(['body'], `is not sent with ${execution.method}. Remove it, or use POST.`);
    bodyProblems(execution.body, ['body'], add);
    if (mixesInputIntoSyntax(execution))
      add(['body'], 'must be an object here: input inserted into a text could change the structure of the body.');
  });

/** Checks what `execution` says about a URL, field by field. */
export const httpExecutionSchema: z.ZodType = httpSchema;

/** A checked execution with its defaults. */
export function readHttpExecution(execution: ToolExecution): HttpExecution {
  const { url, webhookUrl, method, headers, body, timeout, signingSecret = [] } = httpSchema.parse(execution);
  const isPost = webhookUrl !== undefined || body !== undefined;
  return {
    url: url ?? webhookUrl ?? '',
    method: method ?? (isPost ? 'POST' : 'GET'),
    headers: headers ?? {},
    body,
    timeout,
    signingSecrets: [signingSecret].flat(),
  };
}

/** Splits a URL template after its origin. */
export function splitUrl(text: string): { readonly origin: string; readonly path: string; readonly query: string } {
  const [, origin = '', path = '', query = ''] = /^([^/]*\/\/[^/?]*)([^?]*)(?:\?(.*))?$/s.exec(text) ?? [];
  return { origin, path, query };
}

/** Returns what is wrong with a URL, or undefined. It may have placeholders after its origin. */
export function urlProblem(text: string): string | undefined {
  const { origin } = splitUrl(text);
  if (/\{\{|\$\{/.test(origin)) return 'must have its scheme, host and port written out: they cannot be filled in.';
  if (text.includes('#')) return 'must not have a fragment (#…).';
  const sample = text.replace(/\{\{[^{}]*\}\}|\$\{[^{}]*\}/g, 'x');
  if (!/^https?:\/\//i.test(text) || !URL.canParse(sample)) return 'must be an http or https URL.';
  const { username, password } = new URL(sample);
  return username === '' && password === '' ? undefined : 'must not have credentials. Send them in a header.';
}

function headerProblem(name: string, others: ReadonlySet<string>): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,200}$/.test(name)) return 'is not a valid header name.';
  if (RESERVED_HEADERS.has(name)) return 'cannot be set: the gateway sets it.';
  return others.has(name) ? 'is set twice: header names ignore case. Remove one.' : undefined;
}

type AddProblem = (path: PropertyKey[], message: string) => void;

function bodyProblems(value: unknown, path: PropertyKey[], add: AddProblem): void {
  // Also stops at a value that contains itself.
  if (path.length > 100) add(path.slice(0, 5), 'is more than 100 levels deep.');
  else if (typeof value === 'string') {
    const message = templateProblem(value);
    if (message !== undefined) add(path, message);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) bodyProblems(item, [...path, index], add);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, field] of Object.entries(value)) {
      if (/\{\{|\$\{/.test(key)) add([...path, key], 'must not have a placeholder in its name.');
      bodyProblems(field, [...path, key], add);
    }
  } else if (typeof value !== 'number' && typeof value !== 'boolean' && value !== null) add(path, 'must be JSON.');
}

/** True if input is inserted into a text that a program will parse: the input could end a string and begin another field. */
function mixesInputIntoSyntax({
  body,
  headers = {},
}: {
  body?: unknown;
  headers?: Record<string, string> | undefined;
}): boolean {
  if (typeof body !== 'string' || templateProblem(body) !== undefined) return false;
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const template = parseTemplate(body);
  return template.length > 1 && usesInput(template) && /json|xml|form|javascript|html/i.test(type);
}
