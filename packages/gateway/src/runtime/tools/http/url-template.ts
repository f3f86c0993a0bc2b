import { ToolValidationError } from '@lastcall/core';
import { splitUrl } from '../../../config/http-execution.ts';
import { parseTemplate, type Template } from '../../../config/template.ts';
import { fillText, missingIn, required, toText, type Values } from './fill-template.ts';

/**
 * Builds the URL of a call. Values cannot change the scheme, host and port, which have no placeholders, nor the number
 * of path segments or the other segments: values are percent-encoded, and one that a server may read as `..`, `.` or
 * empty is refused. A query parameter with a missing value is left out.
 */
export function urlTemplate(text: string): (values: Values, extra?: Readonly<Record<string, unknown>>) => URL {
  const { origin, path, query } = splitUrl(text);
  const segments = path.split('/').map(parseTemplate);
  const parameters = query === '' ? [] : query.split('&').map(parseTemplate);
  return (values, extra = {}) => {
    const filled = segments.map((segment) => fillSegment(segment, values)).join('/');
    const search = [
      ...parameters.flatMap((parameter) => fillText(parameter, values, encode) ?? []),
      ...Object.entries(extra).flatMap(([name, value]) => queryOf(name, value)),
    ].join('&');
    return new URL(`${origin}${filled}${search === '' ? '' : `?${search}`}`);
  };
}

function fillSegment(segment: Template, values: Values): string {
  if (segment.every((part) => typeof part === 'string')) return segment.join('');
  const text = required(fillText(segment, values), missingIn(segment, values));
  // Many servers decode a path before they resolve it: `..%2Fadmin` then leads one step up.
  if (text === '' || decoded(text).split(/[/\\]/).some(isDots))
    throw new ToolValidationError(
      `A value in the path of the URL must not be empty, "." or "..", or contain such a step.`,
    );
  return fillText(segment, values, encode) ?? '';
}

function isDots(text: string): boolean {
  return /^\s*(?:\.|%2e){1,2}\s*$/i.test(text);
}

/** The text as a server sees it that decodes more than once. */
function decoded(text: string): string {
  return text
    .replace(/%(?:25)*2f/gi, '/')
    .replace(/%(?:25)*5c/gi, '\\')
    .replace(/%(?:25)*2e/gi, '.');
}

function queryOf(name: string, value: unknown): string[] {
  return [value].flat().flatMap((one) => {
    const text = toText(one);
    return text === undefined ? [] : [`${encode(name)}=${encode(text)}`];
  });
}

/** A lone surrogate cannot be encoded. It becomes the replacement character. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
