import { createHash } from 'node:crypto';
import type { JsonSchemaObject } from '@lastcall/core';
import { canonicalJson } from '../../../ports/store/schema/json.ts';

/** A tool as its server defines it. */
export interface McpDefinition {
  /** The server's name for the tool. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: JsonSchemaObject;
  readonly outputSchema?: JsonSchemaObject | undefined;
  readonly annotations?: McpHints | undefined;
}

/** What a server claims about a tool's effects. It counts only if the server is trusted. */
interface McpHints {
  readonly readOnlyHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly [hint: string]: unknown;
}

/** The part of a tool that is approved: everything that a model reads of it and that decides how it is called. */
export function approvedPart({ title, description, inputSchema, outputSchema, annotations }: McpDefinition): object {
  return { title, description, inputSchema, outputSchema, annotations };
}

const fingerprints = new WeakMap<McpDefinition, string>();

/** Definitions that differ only in the order of keys have the same fingerprint. */
export function fingerprintOf(definition: McpDefinition): string {
  const known = fingerprints.get(definition);
  if (known !== undefined) return known;
  const made = createHash('sha256')
    .update(canonicalJson(approvedPart(definition)))
    .digest('hex');
  fingerprints.set(definition, made);
  return made;
}
