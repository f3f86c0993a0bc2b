import type { Place } from '../places.ts';

/** The answer, whose place is given back when its body has ended, by either side. */
export async function holdPlace(answering: Promise<Response>, place: Place): Promise<Response> {
  const answer = await answering.catch((error: unknown) => {
    place.release();
    throw error;
  });
  if (answer.body === null) {
    place.release();
    return answer;
  }
  const reader = answer.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        place.release();
        throw error;
      });
      if (!done) return controller.enqueue(value);
      place.release();
      controller.close();
    },
    async cancel(reason) {
      place.release();
      await reader.cancel(reason);
    },
  });
  return new Response(body, answer);
}
