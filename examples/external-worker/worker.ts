/** A worker for the jobs of one agent: it claims each job, keeps the claim while it works, and answers. */
export async function work(
  gateway: { readonly url: string; readonly key: string; readonly agentId: string },
  doJob: (input: unknown, progress: (value: unknown) => Promise<unknown>) => Promise<unknown>,
): Promise<never> {
  const { url, key, agentId } = gateway;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const post = (path: string, body: object) =>
    fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });

  async function handle(callId: string): Promise<void> {
    const claimed = await post(`/api/jobs/${callId}/claim`, { worker: 'worker-1', leaseMs: 30_000 });
    if (claimed.status !== 200) return; // 409: another worker was faster. 410: the job expired or was cancelled.
    const { claimToken, runId, input } = (await claimed.json()) as {
      claimToken: string;
      runId: string;
      input: unknown;
    };
    const beat = (progress?: unknown) => post(`/api/jobs/${callId}/heartbeat`, { claimToken, progress });
    const timer = setInterval(() => void beat().catch(() => {}), 10_000);
    const answer = await doJob(input, beat).then(
      (result) => ({ result: result ?? null }),
      (error: unknown) => ({ error: String(error) }),
    );
    clearInterval(timer);
    await post(`/api/runs/${runId}/tool-results`, { callId, claimToken, ...answer });
  }

  async function follow(): Promise<void> {
    const stream = await fetch(`${url}/api/jobs/stream?agentId=${agentId}`, { headers });
    let text = '';
    for await (const piece of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (text + piece).split('\n\n');
      text = events.pop() ?? '';
      for (const event of events)
        if (event.includes('event: job.available')) await handle(JSON.parse(event.split('data: ')[1] ?? '').callId);
    }
  }

  // A new stream begins with the jobs that wait, so nothing is missed while the connection is down.
  for (;;) {
    await follow().catch((error: unknown) => console.error('The gateway cannot be reached; trying again.', error));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
