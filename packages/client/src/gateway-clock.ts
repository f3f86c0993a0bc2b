/** The gateway's time, as its answers tell it: that of the page's own machine may be wrong by hours. */
export interface GatewayClock {
  /** In milliseconds since the epoch. The own clock's, until there was an answer. */
  now(): number;
  /** Learns from the `Date` of an answer. `sentAt`: when the request was sent, by the own clock. */
  learn(headers: Headers, sentAt: number): void;
}

/**
 * An answer says the second in which the gateway was somewhere between the request and the answer. Each bounds how far the clocks are
 * apart; all together within less than a second.
 */
export function createGatewayClock(ownTime: () => number = Date.now): GatewayClock {
  let [least, most] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  return {
    now: () => ownTime() + (Number.isFinite(least + most) ? (least + most) / 2 : 0),
    learn(headers, sentAt) {
      const second = Date.parse(headers.get('date') ?? '');
      if (Number.isNaN(second)) return;
      const [low, high] = [second - ownTime(), second + 1_000 - sentAt];
      // A clock was set meanwhile: what was known before is wrong.
      const isOld = low > most || high < least;
      least = isOld ? low : Math.max(least, low);
      most = isOld ? high : Math.min(most, high);
    },
  };
}
