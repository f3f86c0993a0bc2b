/*
 * What the gateway itself wrote into JSON besides texts: names of tools and models, kinds, statuses. A person who wrote "use
 * create_purchase_order" did not make the name of the tool theirs. If it were replaced, no provider would accept the transcript.
 */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...['type', 'kind', 'role', 'status', 'mediaType', 'finishReason', 'provider', 'model'],
  ...['toolName', 'tools', 'tool', 'callId', 'toolCallId', 'providerCallId', 'eventId', 'event'],
]);

/** Below these, the fields are those of tools, people and programs. */
const CONTENT: ReadonlySet<string> = new Set([
  ...['input', 'output', 'value', 'outcome', 'result', 'answer', 'answers', 'arguments', 'data', 'metadata', 'display'],
  ...['state', 'patch', 'conditions'],
]);

/** `changed` is `value` with other strings. Returns it with the names and kinds of `value`. */
export function keepStructure(value: unknown, changed: unknown, isStructure = false): unknown {
  if (typeof value === 'string') return isStructure && !/[\s@]/.test(value) ? value : changed;
  if (Array.isArray(value) && Array.isArray(changed))
    return value.map((one, index) => keepStructure(one, changed[index], isStructure));
  if (!isObject(value) || !isObject(changed)) return changed;
  const fields = Object.entries(changed);
  // A field whose own name was replaced is at the same place, unless two got the same name.
  if (fields.length !== Object.keys(value).length) return changed;
  return Object.fromEntries(
    Object.entries(value).map(([name, one], index) => {
      const [newName, other] = fields[index] as [string, unknown];
      return [newName, CONTENT.has(name) ? other : keepStructure(one, other, STRUCTURE.has(name))];
    }),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
