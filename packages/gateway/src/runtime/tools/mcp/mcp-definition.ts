import { createHash } from 'node:crypto';
import type { JsonSchemaObject } from '@lastcall/core';
import { canonicalJson } from '../../../ports/store/json.ts';

/** A tool as its server defines it. */
export interface McpDefinition {
  /** The server's own name of it. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: JsonSchemaObject;
  readonly outputSchema?: JsonSchemaObject | undefined;
  readonly annotations?: McpHints | undefined;
}

/** What a server says about a tool's effects. Only a trusted server's word counts. */
interface McpHints {
  readonly readOnlyHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly [hint: string]: unknown;
}

/** What is approved of a tool: whatever a model reads of it and whatever decides how it is called. */
export function approvedPart({ title, description, inputSchema, outputSchema, annotations }: McpDefinition): object {
  return { title, description, inputSchema, outputSchema, annotations };
}

const fingerprints = new WeakMap<McpDefinition, string>();

/** The same for definitions that differ in nothing but the order of keys. */
export function fingerprintOf(definition: McpDefinition): string {
  const known = fingerprints.get(definition);
  if (known !== undefined) return known;
  const made = createHash('sha256')
    .update(canonicalJson(approvedPart(definition)))
    .digest('hex');
  fingerprints.set(definition, made);
  return made;
}
