import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type ScriptedModel, scriptedModel } from '@lastcall/core/testing';
import type { TestGateway } from '@lastcall/gateway/testing';

type StreamPart =
  Awaited<ReturnType<ScriptedModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

/** A model that streams one long message slowly, as providers do. */
export function slowTeller({ words, everyMs }: { words: string; everyMs: number }): ScriptedModel {
  const place = { spaceId: '' };
  const model = scriptedModel((request) => {
    const text = JSON.stringify(request.prompt);
    place.spaceId = /Space (\d+) \(/.exec(text)?.[1] ?? place.spaceId;
    const isDone = text.includes('"send_message"');
    if (isDone) return 'Told.';
    if (!text.includes('"enter_space"')) return { toolName: 'enter_space', input: { spaceId: place.spaceId } };
    return { toolName: 'send_message', input: { text: words } };
  });
  return {
    ...model,
    async doStream(request) {
      const { stream, ...rest } = await model.doStream(request);
      const slow = new TransformStream<StreamPart, StreamPart>({
        async transform(part, controller) {
          if (part.type === 'tool-input-delta') await new Promise((resolve) => setTimeout(resolve, everyMs));
          controller.enqueue(part);
        },
      });
      return { ...rest, stream: stream.pipeThrough(slow) };
    },
  };
}

/** Posts many messages, several at a time. `by`: the entity that posts them. Default: Ada's. */
export async function fill(gateway: TestGateway, texts: readonly string[], by?: string): Promise<string> {
  const [{ id: spaceId }] = (await gateway.api('/api/spaces')).items;
  const entityId = by ?? (await gateway.api('/api/entities?externalId=ada')).items[0].id;
  const left = [...texts];
  const post = async (): Promise<void> => {
    for (let text = left.shift(); text !== undefined; text = left.shift())
      await gateway.api(`/api/spaces/${spaceId}/messages`, { entityId, text });
  };
  await Promise.all(Array.from({ length: 16 }, post));
  return spaceId;
}

/** Copies the only message of a space until there are this many: posting each would take longer than the rest of the test. */
export async function multiply(gateway: TestGateway, count: number): Promise<void> {
  const db = new DatabaseSync(join(gateway.home, 'lastcall.db'), { timeout: 10_000 });
  const columns = db.prepare('pragma table_info(messages)').all() as { name: string }[];
  const own: Record<string, string> = {
    id: "'copy-' || n",
    seq: 'n',
    content: `json_quote('Message ' || n || ', with **some** text of its own.')`,
    client_message_id: 'null',
  };
  db.exec(`
    with recursive counted(n) as (select 2 union all select n + 1 from counted where n < ${count})
    insert into messages (${columns.map(({ name }) => name).join(', ')})
    select ${columns.map(({ name }) => own[name] ?? `messages.${name}`).join(', ')} from counted, messages;
    update spaces set next_seq = ${count + 1};
  `);
  db.close();
}
