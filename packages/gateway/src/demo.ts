import { tool } from '@lastcall/core';
import { z } from 'zod';
import { type ConfigInput, defineConfig } from './config/config.ts';

/**
 * The configuration of a gateway without a configuration file: one agent, one person, one space, and tools of each
 * kind.
 */
export function demoConfig(): ConfigInput {
  return defineConfig({
    agents: [
      {
        name: 'Concierge',
        description: 'Answers questions about the weather, books hotels and files reports.',
        instructions:
          'You are the concierge of a small travel desk. Answer questions about the weather with fetch_weather. Before you book a hotel with book_hotel, ask for confirmation with confirm_booking and wait for the answer. When somebody asks for a report, file it with file_report.',
        tools: ['fetch_weather', 'confirm_booking', 'book_hotel', 'file_report'],
      },
    ],
    tools: {
      fetch_weather: fetchWeather,
      confirm_booking: {
        description: 'Asks the people in the space to confirm a booking. The answer comes later.',
        executionType: 'space',
        inputSchema: {
          type: 'object',
          properties: { question: { type: 'string' } },
          required: ['question'],
          additionalProperties: false,
        },
        resultSchema: {
          type: 'object',
          properties: { confirmed: { type: 'boolean' } },
          required: ['confirmed'],
          additionalProperties: false,
        },
        display: { customUI: 'confirm' },
        expiresInMs: 24 * 3_600_000,
      },
      book_hotel: bookHotel,
      file_report: fileReport,
    },
    spaces: [
      {
        name: 'Travel desk',
        description: 'Where Ada and the concierge meet.',
        agents: ['Concierge'],
        people: [{ name: 'Ada', externalId: 'demo:ada' }],
      },
    ],
  });
}

const FORECASTS = ['sunny', 'cloudy', 'rainy', 'windy'] as const;

const fetchWeather = tool({
  description: 'The weather in a city today. A demonstration: the same city always has the same weather.',
  inputSchema: z.object({ city: z.string().min(1).max(100) }),
  effects: 'none',
  execute: ({ city }) => {
    const sum = [...city.toLowerCase()].reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0);
    return { city, forecast: FORECASTS[sum % FORECASTS.length], celsius: 10 + (sum % 20) };
  },
});

const bookHotel = tool({
  description: 'Books a hotel room. A demonstration: nothing is booked anywhere.',
  inputSchema: z.object({ city: z.string().min(1).max(100), nights: z.int().min(1).max(30) }),
  execute: ({ city, nights }, { idempotencyKey }) => ({
    city,
    nights,
    reference: idempotencyKey.slice(-8).toUpperCase(),
  }),
});

const fileReport = tool({
  description: 'Files a report: its text is the last word on the matter.',
  inputSchema: z.object({ title: z.string().min(1).max(200), body: z.string().min(1).max(10_000) }),
  terminal: true,
  execute: ({ title, body }) => `${title}\n\n${body}`,
});
