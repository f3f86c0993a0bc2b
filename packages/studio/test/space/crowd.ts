import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { scriptedModel } from '@lastcall/core/testing';
import type { TestGateway } from '@lastcall/gateway/testing';

/** A model that says one long message, slowly, as providers do. */
export function slowTeller({ words, everyMs }: { words: string; everyMs: number }): LanguageModelV4 {
  const place = { spaceId: '' };
  const model = scriptedModel((request) => {
    const text = JSON.stringify(request.prompt);
    place.spaceId = /"spaceId\\*":\\*"([\w-]+)/.exec(text)?.[1] ?? place.spaceId;
    const isDone = text.includes('"send_message"');
    if (isDone) return 'Told.';
    if (!text.includes('"enter_space"')) return { toolName: 'enter_space', input: { spaceId: place.spaceId } };
    return { toolName: 'send_message', input: { text: words } };
  });
  return {
    ...model,
    async doStream(request) {
      const { stream, ...rest } = await model.doStream(request);
      const slow = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        async transform(part, controller) {
          if (part.type === 'tool-input-delta') await new Promise((resolve) => setTimeout(resolve, everyMs));
          controller.enqueue(part);
        },
      });
      return { ...rest, stream: stream.pipeThrough(slow) };
    },
  };
}

/** Posts many messages, several at a time. */
export async function fill(gateway: TestGateway, texts: readonly string[]): Promise<string> {
  const [{ id: spaceId }] = (await gateway.api('/api/spaces')).items;
  const [{ id: entityId }] = (await gateway.api('/api/entities?externalId=ada')).items;
  const left = [...texts];
  const post = async (): Promise<void> => {
    for (let text = left.shift(); text !== undefined; text = left.shift())
      await gateway.api(`/api/spaces/${spaceId}/messages`, { entityId, text });
  };
  await Promise.all(Array.from({ length: 16 }, post));
  return spaceId;
}
