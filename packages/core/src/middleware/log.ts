import type { Middleware } from '../contract/middleware.ts';
import type { Logger } from '../logger.ts';
import { errorText } from '../results/describe-error.ts';
import { isToolResult } from '../results/result.ts';

/** Logs every run of a tool and every request to the model, and how it went. */
export function log(logger: Logger): Middleware {
  return {
    name: 'log',
    async call(next, { toolName, callId, input }) {
      logger.debug(`${toolName} (${callId}) starts`, { input });
      try {
        const returned = await next();
        const failed = isToolResult(returned) && returned.status === 'error' ? returned.message : undefined;
        if (failed === undefined) logger.info(`${toolName} (${callId}) is done`);
        else logger.warn(`${toolName} (${callId}) failed: ${failed}`);
        return returned;
      } catch (error) {
        logger.warn(`${toolName} (${callId}) failed: ${errorText(error)}`);
        throw error;
      }
    },
    async model(next, _request, { step }) {
      try {
        const reply = await next();
        logger.info(`The model replied in step ${step}`, reply.usage);
        return reply;
      } catch (error) {
        logger.warn(`The model failed in step ${step}: ${errorText(error)}`);
        throw error;
      }
    },
  };
}
