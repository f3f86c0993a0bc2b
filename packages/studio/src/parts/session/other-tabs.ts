const CHANNEL = 'lastcall-session';

/**
 * Notifies the other tabs of this browser, which share the cookie, that a user signed in or out here, or acts as
 * another person.
 */
export function tellOtherTabs(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage('changed');
  channel.close();
}

/**
 * Calls back when another tab notifies, and when the user returns to this tab, which may have missed messages while it
 * slept.
 */
export function onSessionChange(look: (ifGone: 'signed out' | 'ended') => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = () => look('signed out');
  const onVisible = (): void => {
    if (document.visibilityState === 'visible') look('ended');
  };
  document.addEventListener('visibilitychange', onVisible);
  return () => {
    channel.close();
    document.removeEventListener('visibilitychange', onVisible);
  };
}
