import { Random } from '../../packages/gateway/test/chaos/random.ts';

/**
 * A simulation of queues: messages visit processes. Each process does one thing at a time per server, and needs a processor
 * of its host while it works.
 */
interface Station {
  readonly name: string;
  /** How many visits it serves at once. A gateway has one server: its event loop. */
  readonly servers: number;
  readonly host: string;
}

export interface Network {
  /** How many processors each host has. It may be a fraction, if others use the rest. */
  readonly hosts: Readonly<Record<string, number>>;
  readonly stations: readonly Station[];
  /** The visits of the message with this number, in order, with the mean time of each. */
  visits(message: number): readonly Visit[];
}

export interface Visit {
  readonly station: string;
  readonly ms: number;
}

export interface Load {
  readonly messages: number;
  /** Either a fixed number of messages is always active, or messages arrive at random at a given rate per second. */
  readonly arrivals: { readonly underWay: number } | { readonly perSecond: number };
  readonly seed?: number;
}

export interface Simulated {
  readonly perSecond: number;
  /** From its arrival to its end. */
  readonly latencyMs: readonly number[];
  /** The part of the time that each station was busy, all its servers together. */
  readonly utilization: Readonly<Record<string, number>>;
}

/** Visits wait for a server of their station, then for a processor, in the order in which they came. Times are exponential. */
export function simulate(network: Network, load: Load): Simulated {
  return new Simulation(network, load).run();
}

interface Message {
  readonly arrivedAt: number;
  readonly visits: readonly Visit[];
  /** The index of its current visit. */
  at: number;
}

interface Queue {
  readonly station: Station;
  readonly waiting: Message[];
  busy: number;
  busyMs: number;
}

class Simulation {
  readonly #load: Load;
  readonly #visits: Network['visits'];
  readonly #queues: ReadonlyMap<string, Queue>;
  readonly #hosts: ReadonlyMap<string, Host>;
  readonly #random: Random;
  readonly #events = new EventQueue();
  readonly #latencyMs: number[] = [];
  #begun = 0;
  #now = 0;

  constructor({ hosts, stations, visits }: Network, load: Load) {
    this.#load = load;
    this.#visits = visits;
    this.#random = new Random(load.seed ?? 1);
    this.#queues = new Map(stations.map((station) => [station.name, { station, waiting: [], busy: 0, busyMs: 0 }]));
    this.#hosts = new Map(Object.entries(hosts).map(([name, processors]) => [name, new Host(processors)]));
  }

  run(): Simulated {
    const { arrivals } = this.#load;
    const first = 'underWay' in arrivals ? arrivals.underWay : 1;
    for (let count = 0; count < first; count++) this.#arrive();
    for (let next = this.#events.take(); next !== undefined; next = this.#events.take()) {
      this.#now = next.at;
      next.run();
    }
    const busy = [...this.#queues].map(([name, { station, busyMs }]) => [name, busyMs / this.#now / station.servers]);
    const perSecond = (this.#latencyMs.length * 1_000) / this.#now;
    return { perSecond, latencyMs: this.#latencyMs, utilization: Object.fromEntries(busy) };
  }

  #arrive(): void {
    const { messages, arrivals } = this.#load;
    if (this.#begun >= messages) return;
    this.#enter({ arrivedAt: this.#now, visits: this.#visits(this.#begun++), at: 0 });
    if ('perSecond' in arrivals) this.#after(this.#exponential(1_000 / arrivals.perSecond), () => this.#arrive());
  }

  #enter(message: Message): void {
    const visit = message.visits[message.at];
    if (visit === undefined) {
      this.#latencyMs.push(this.#now - message.arrivedAt);
      if ('underWay' in this.#load.arrivals) this.#arrive();
      return;
    }
    const queue = this.#queues.get(visit.station);
    if (queue === undefined) throw new Error(`There is no station "${visit.station}".`);
    queue.waiting.push(message);
    this.#serve(queue);
  }

  #serve(queue: Queue): void {
    if (queue.busy >= queue.station.servers) return;
    const message = queue.waiting.shift();
    const host = this.#hosts.get(queue.station.host);
    if (message === undefined || host === undefined) return;
    queue.busy++;
    host.acquire(() => {
      const ms = this.#exponential((message.visits[message.at]?.ms ?? 0) * host.slowdown);
      this.#after(ms, () => this.#end(queue, host, { message, ms }));
    });
  }

  #end(queue: Queue, host: Host, { message, ms }: { readonly message: Message; readonly ms: number }): void {
    queue.busy--;
    queue.busyMs += ms;
    host.release();
    message.at++;
    this.#serve(queue);
    this.#enter(message);
  }

  #after(ms: number, run: () => void): void {
    this.#events.add(this.#now + ms, run);
  }

  #exponential(mean: number): number {
    return -Math.log(1 - this.#random.next()) * mean;
  }
}

/** The processors of a machine. */
class Host {
  /** With a fraction of a processor, everything takes longer. */
  readonly slowdown: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(processors: number) {
    this.#free = Math.max(1, Math.ceil(processors));
    this.slowdown = this.#free / processors;
  }

  acquire(work: () => void): void {
    if (this.#free === 0) {
      this.#waiting.push(work);
      return;
    }
    this.#free--;
    work();
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}

interface Event {
  readonly at: number;
  readonly run: () => void;
}

/** A binary heap: the earliest event first. */
class EventQueue {
  readonly #events: Event[] = [];

  add(at: number, run: () => void): void {
    const events = this.#events;
    let place = events.push({ at, run }) - 1;
    for (let above = (place - 1) >> 1; place > 0 && this.#at(above) > at; above = (place - 1) >> 1) {
      this.#swap(place, above);
      place = above;
    }
  }

  take(): Event | undefined {
    const events = this.#events;
    const [first] = events;
    const last = events.pop();
    if (events.length === 0 || last === undefined) return first;
    events[0] = last;
    for (let place = 0; ; ) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      const smaller = this.#at(right) < this.#at(left) ? right : left;
      if (this.#at(smaller) >= this.#at(place)) return first;
      this.#swap(place, smaller);
      place = smaller;
    }
  }

  #at(place: number): number {
    return this.#events[place]?.at ?? Number.POSITIVE_INFINITY;
  }

  #swap(one: number, other: number): void {
    const events = this.#events as [Event];
    [events[one], events[other]] = [events[other] as Event, events[one] as Event];
  }
}
