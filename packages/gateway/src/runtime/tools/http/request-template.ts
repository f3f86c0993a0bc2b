import { ToolValidationError } from '@lastcall/core';
import type { HttpExecution } from '../../../config/http-execution.ts';
import { parseTemplate, usesInput } from '../../../config/template.ts';
import { fillText, fillValue, required, type Values } from './fill-template.ts';
import { urlTemplate } from './url-template.ts';

/** A request, ready to be sent. */
export interface FilledRequest {
  readonly url: URL;
  readonly method: string;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * Prepares the templates of a tool once, for all its calls. `GET` and `HEAD` without a placeholder for the input send
 * it as query parameters; other methods without a `body` send it as JSON.
 */
export function requestTemplate(execution: HttpExecution): (values: Values) => FilledRequest {
  const { method, body } = execution;
  const toUrl = urlTemplate(execution.url);
  const headers = Object.entries(execution.headers).map(
    ([name, text]) => [name.toLowerCase(), parseTemplate(text)] as const,
  );
  const isRead = method === 'GET' || method === 'HEAD';
  const templates = [parseTemplate(execution.url), ...headers.map(([, template]) => template)];
  const sendsQuery = isRead && !templates.some(usesInput);
  const fillBody = body === undefined ? (values: Values) => values.input : bodyTemplate(body);
  return (values) => {
    const url = toUrl(values, sendsQuery ? (values.input as Readonly<Record<string, unknown>>) : {});
    const filled = headers.flatMap(([name, template]) => {
      const value = fillText(template, values);
      return value === undefined ? [] : [[name, checkedHeader(name, value)] as const];
    });
    const content = isRead ? undefined : toContent(required(fillBody(values), 'the body'));
    const type = content === undefined ? {} : { 'content-type': content.type };
    return { url, method, headers: { ...type, ...Object.fromEntries(filled) }, body: content?.text };
  };
}

/** Fills all texts of a body. Fields and items with a missing value are left out. */
function bodyTemplate(value: unknown): (values: Values) => unknown {
  if (typeof value === 'string') {
    const template = parseTemplate(value);
    // An empty text has no parts, but is not a missing value.
    return template.length === 0 ? () => '' : (values) => fillValue(template, values);
  }
  if (Array.isArray(value)) {
    const items = value.map(bodyTemplate);
    return (values) => items.map((fill) => fill(values)).filter((item) => item !== undefined);
  }
  if (typeof value !== 'object' || value === null) return () => value;
  const fields = Object.entries(value).map(([key, field]) => [key, bodyTemplate(field)] as const);
  return (values) =>
    Object.fromEntries(
      fields.map(([key, fill]) => [key, fill(values)] as const).filter(([, field]) => field !== undefined),
    );
}

function toContent(body: unknown): { readonly text: string; readonly type: string } {
  return typeof body === 'string'
    ? { text: body, type: 'text/plain; charset=utf-8' }
    : { text: JSON.stringify(body), type: 'application/json' };
}

/** A line break would start another header. Headers cannot contain characters beyond Latin-1. */
function checkedHeader(name: string, value: string): string {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
    throw new ToolValidationError(
      `The header "${name}" must not contain line breaks, other control characters or characters beyond Latin-1.`,
    );
  return value.trim();
}
