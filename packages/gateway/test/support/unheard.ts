import type { World } from './world.ts';

/** Runs the work while notices are lost: events are stored, but no reader is notified. */
export async function withoutNotices<T>({ services: { bus } }: World, work: () => Promise<T>): Promise<T> {
  const { publish } = bus;
  Object.assign(bus, { publish: () => {} });
  try {
    return await work();
  } finally {
    Object.assign(bus, { publish });
  }
}

/** Runs the work while wakes are lost, as if the process had died with them. */
export async function withoutWakes<T>({ scheduler }: World, work: () => Promise<T>): Promise<T> {
  const { enqueue } = scheduler;
  Object.assign(scheduler, { enqueue: () => {} });
  try {
    return await work();
  } finally {
    Object.assign(scheduler, { enqueue });
  }
}
