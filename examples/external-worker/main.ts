import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { work } from './worker.ts';

// The model is scripted, so that the example prints the same every time.
const model = scriptedModel([
  { toolName: 'render_video', input: { scene: 'harbour at dawn' } },
  'The video is being made.',
  'The video is ready.',
]);
const gateway = await startTestGateway({
  model,
  agents: [{ name: 'Director', instructions: 'You make videos.', tools: ['render_video'] }],
  tools: {
    render_video: {
      executionType: 'external',
      visible: false,
      inputSchema: { type: 'object', properties: { scene: { type: 'string' } }, required: ['scene'] },
      resultSchema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
    },
  },
});
const { url, api, secretKey: key } = gateway;
const [{ id: agentId }] = (await api('/api/agents')).items;
await api(`/api/agents/${agentId}/events`, { source: 'example', name: 'start' });

// In your setup this is a separate process, or several on several machines.
void work({ url, key, agentId }, async (input, progress) => {
  console.log('working on', input);
  await progress({ percent: 50 });
  return { url: 'https://videos.example.com/harbour.mp4' };
});

await waitFor(() => model.requests.length === 3);
const [call] = (await api('/api/pending?status=resolved')).items;
console.log(call.toolName, call.status, call.answer, call.job.worker);
await gateway.stop();
process.exit();
