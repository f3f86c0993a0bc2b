import type { Settlement } from '../results/outcome.ts';
import type { SliceChanges } from './recording.ts';
import type { SessionLayer } from './session-layer.ts';
import { toToolInvoked } from './tool-invoked.ts';

// How a session learns of its runs and of the ends of its calls. While a call may write, the root is about to be
// replaced, so all of this waits for the call's end.

/** Makes the end of a successful call part of what it commits. Throws if a reducer throws. */
export function reduceEnd(layer: SessionLayer, settlement: Settlement): void {
  const event = toToolInvoked(settlement);
  if (layer.isReadOnly) layer.state.keepEnd(event);
  else layer.whenNoDraft(() => layer.state.reduce(event));
}

/** Passes a call that did not succeed to the `log` slices. State slices never see it. */
export function logEnd(layer: SessionLayer, settlement: Settlement): void {
  const event = toToolInvoked(settlement);
  layer.whenNoDraft(() => {
    const { root } = layer.state;
    try {
      layer.state.reduce(event, 'log');
      // A log that cannot be stored would make every later call of the turn fail.
      layer.recording?.check(layer.state.root);
    } catch (error) {
      layer.state.root = root;
      layer.logger.error(`A log slice could not record the end of "${event.toolName}".`, error);
    }
  });
}

/** A run starts on this session: state that lasts for one run is reset. */
export function startRun(layer: SessionLayer): void {
  const started = { type: 'RunStarted', keepsOpened: layer.shared.keepsOpened };
  layer.whenNoDraft(() => layer.state.reduce(started));
}

/** Notifies the subscribers of `ToolInvoked`. */
export function tellSubscribers({ shared: { subscribers } }: SessionLayer, settlement: Settlement): void {
  if (subscribers.has('ToolInvoked')) subscribers.tell(toToolInvoked(settlement));
}

/** The log entries of a call that did not succeed. A log that cannot be stored must not keep the call from ending. */
export function stageLogs({ recording, state, logger }: SessionLayer): SliceChanges | undefined {
  try {
    return recording?.stage(state.root);
  } catch (error) {
    logger.error('The log entries of a failed call could not be stored.', error);
    return {};
  }
}
