const CHANNEL = 'lastcall-session';

/** Tells the other tabs of this browser, which have the same cookie, that somebody signed in or out here, or acts as somebody else. */
export function tellOtherTabs(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage('changed');
  channel.close();
}

/** Calls back when another tab tells so, and when somebody comes back to this one: what a sleeping tab missed is made up for. */
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
