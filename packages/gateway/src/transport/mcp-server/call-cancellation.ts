import { SdkError, type ServerContext } from '@modelcontextprotocol/server';
import { ApiError } from '../../domain/api-error.ts';
import { runsOfTurn } from '../../domain/conversations/turn-runs.ts';
import { requestCancel } from '../../domain/runs/request-cancel.ts';
import type { Services } from '../../ports/services.ts';
import { auditMcp } from './audit-mcp.ts';

interface Cancellable {
  readonly services: Services;
  /** A run of the call's turn. */
  readonly runId: string;
  readonly contextId: string;
  readonly ctx: ServerContext;
  /** True if a closed connection means that the client gave up. */
  readonly isCloseCancel: boolean;
  /** Aborted when the gateway stops: connections that close then were not closed by the client. */
  readonly stopping: AbortSignal;
}

/**
 * Cancels the turn when the client cancels its call. The signal of a request is also aborted when the request is over, and when
 * we close the connection. So call `Symbol.dispose` before returning the result; `stopping` covers the second case.
 */
export function cancelWithCall({ services, runId, contextId, ctx, isCloseCancel, stopping }: Cancellable): Disposable {
  const { signal } = ctx.mcpReq;
  const onAbort = (): void => {
    if (stopping.aborted || (isClose(signal.reason) && !isCloseCancel)) return;
    void cancel(services, ctx, { contextId, runId }).catch((error: unknown) => {
      services.logger.warn(`Run ${runId} could not be cancelled.`, error);
    });
  };
  // The call may have been cancelled while the turn was being stored.
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', onAbort) };
}

function isClose(reason: unknown): boolean {
  return reason instanceof SdkError;
}

/** An answer from elsewhere may have continued the turn in another run. */
async function cancel(
  { store }: Pick<Services, 'store'>,
  ctx: ServerContext,
  { contextId, runId }: Pick<Cancellable, 'contextId' | 'runId'>,
): Promise<void> {
  try {
    await store.transaction(async (tx) => {
      const runs = await runsOfTurn(tx.db, contextId, runId);
      const id = runs.at(-1) ?? runId;
      await requestCancel(tx, id);
      auditMcp(tx, ctx, { kind: 'run', id });
    });
  } catch (error) {
    // The run has ended meanwhile.
    if (!(error instanceof ApiError && error.code === 'run_ended')) throw error;
  }
}
