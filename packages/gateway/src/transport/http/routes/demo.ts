import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint.ts';

/** The delay lets the response go out first: a browser that gets none repeats the request, and would crash the gateway twice. */
const ANSWER_MS = 100;

/** Endpoints that only the demo of the command line serves: elsewhere the path does not exist. `crash` kills the process. */
export function demoEndpoints(crash: (() => void) | undefined): readonly Endpoint[] {
  if (crash === undefined) return [];
  return [
    endpoint({
      method: 'post',
      path: '/api/demo/crash',
      summary: 'Crash the gateway',
      description: 'Kills the process of the demo with SIGKILL. It is started again at once.',
      access: 'admin',
      answer: z.strictObject({}),
      handle: async () => ({}),
      respond() {
        setTimeout(crash, ANSWER_MS);
        return Response.json({});
      },
    }),
  ];
}
