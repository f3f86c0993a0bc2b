import { chatApi } from '../chat/chat-api.ts';
import type { Api } from '../http/api.ts';
import type { World } from '../support/world.ts';
import { openPage, type Page, type PageOptions } from './page.ts';

/** An agent, and pages that chat with it. */
export interface ChatWorld {
  readonly api: Api;
  readonly agentId: string;
  page(options?: Partial<PageOptions>): Page;
}

export async function openChatWorld(world: World, config: object = {}): Promise<ChatWorld> {
  const api = await chatApi(world);
  const agentId = await api.agent('Bot', config);
  return {
    api,
    agentId,
    page: (options) =>
      openPage({
        api: `http://gateway/api/agents/${agentId}/chat`,
        secret: api.key,
        fetch: async (input, init) => await api.app.fetch(new Request(input, init)),
        ...options,
      }),
  };
}
