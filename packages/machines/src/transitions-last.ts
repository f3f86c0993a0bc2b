import type { Middleware, ModelReply } from '@lastcall/core';
import { isTransitionTool } from './tool-names.ts';

/**
 * A transition applies to the state that its whole batch left, and its result says what happened: so it must run last.
 * Core runs calls in the order of the reply, and this is the one place to change that order.
 */
export const transitionsLast: Middleware = {
  name: 'transitions-last',
  async model(next) {
    const reply = await next();
    return isInOrder(reply) ? reply : { ...reply, content: inOrder(reply.content) };
  },
};

type Content = ModelReply['content'];

function isInOrder({ content }: ModelReply): boolean {
  const calls = content.filter(({ type }) => type === 'tool-call');
  const first = calls.findIndex(isTransition);
  return first === -1 || calls.slice(first).every(isTransition);
}

function inOrder(content: Content): Content {
  return [...content.filter((part) => !isTransition(part)), ...content.filter(isTransition)];
}

function isTransition(part: Content[number]): boolean {
  return part.type === 'tool-call' && isTransitionTool(part.toolName);
}
