interface Place {
  /** The gateway's address without a provider. */
  readonly root: string;
  /** Whether requests need a token of the gateway. */
  readonly isAuthenticated: boolean;
}

interface Snippet {
  readonly title: string;
  /** The command that installs the client; empty for curl. */
  readonly install: string;
  readonly of: (place: Place) => string;
}

const js = ({ isAuthenticated }: Place, member: string, indent: string): string =>
  isAuthenticated ? `\n${indent}${member}: { "cf-aig-authorization": \`Bearer \${process.env.GATEWAY_TOKEN}\` },` : "";
const py = ({ isAuthenticated }: Place, indent = "    "): string =>
  isAuthenticated ? `\n${indent}default_headers={"cf-aig-authorization": f"Bearer {os.environ['GATEWAY_TOKEN']}"},` : "";

/** A first request by each client that people use, as it runs with the keys in the environment. */
export const SNIPPETS = {
  curl: {
    title: "curl",
    install: "",
    of: ({ root, isAuthenticated }) =>
      [
        `curl ${root}/openai/chat/completions`,
        ...(isAuthenticated ? [`  -H "cf-aig-authorization: Bearer $GATEWAY_TOKEN"`] : []),
        `  -H "Authorization: Bearer $OPENAI_API_KEY"`,
        `  -H "Content-Type: application/json"`,
        `  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'`,
      ].join(" \\\n"),
  },
  "openai-js": {
    title: "OpenAI, JavaScript",
    install: "npm install openai",
    of: (place) => `import OpenAI from "openai";

const client = new OpenAI({
  apiKey: process.env.OPENAI_API_KEY,
  baseURL: "${place.root}/openai",${js(place, "defaultHeaders", "  ")}
});
const answer = await client.chat.completions.create({
  model: "gpt-4o-mini",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(answer.choices[0].message.content);`,
  },
  "openai-python": {
    title: "OpenAI, Python",
    install: "pip install openai",
    of: (place) => `import os
from openai import OpenAI

client = OpenAI(
    api_key=os.environ["OPENAI_API_KEY"],
    base_url="${place.root}/openai",${py(place)}
)
answer = client.chat.completions.create(
    model="gpt-4o-mini",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
  },
  "anthropic-js": {
    title: "Anthropic, JavaScript",
    install: "npm install @anthropic-ai/sdk",
    of: (place) => `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  apiKey: process.env.ANTHROPIC_API_KEY,
  baseURL: "${place.root}/anthropic",${js(place, "defaultHeaders", "  ")}
});
const answer = await client.messages.create({
  model: "claude-haiku-4-5",
  max_tokens: 256,
  messages: [{ role: "user", content: "Hello" }],
});
console.log(answer.content[0].text);`,
  },
  "anthropic-python": {
    title: "Anthropic, Python",
    install: "pip install anthropic",
    of: (place) => `import os
from anthropic import Anthropic

client = Anthropic(
    api_key=os.environ["ANTHROPIC_API_KEY"],
    base_url="${place.root}/anthropic",${py(place)}
)
answer = client.messages.create(
    model="claude-haiku-4-5",
    max_tokens=256,
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.content[0].text)`,
  },
  "google-genai": {
    title: "Google GenAI",
    install: "npm install @google/genai",
    of: (place) => `import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: process.env.GEMINI_API_KEY,
  httpOptions: {
    baseUrl: "${place.root}/google-ai-studio",${js(place, "headers", "    ")}
  },
});
const answer = await client.models.generateContent({ model: "gemini-2.5-flash", contents: "Hello" });
console.log(answer.text);`,
  },
  "vercel-ai": {
    title: "Vercel AI SDK",
    install: "npm install ai @ai-sdk/openai",
    of: (place) => `import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";

const openai = createOpenAI({
  apiKey: process.env.OPENAI_API_KEY,
  baseURL: "${place.root}/openai",${js(place, "headers", "  ")}
});
const { text } = await generateText({ model: openai.chat("gpt-4o-mini"), prompt: "Hello" });
console.log(text);`,
  },
  langchain: {
    title: "LangChain",
    install: "npm install @langchain/openai @langchain/core",
    of: (place) => `import { ChatOpenAI } from "@langchain/openai";

const model = new ChatOpenAI({
  model: "gpt-4o-mini",
  apiKey: process.env.OPENAI_API_KEY,
  configuration: {
    baseURL: "${place.root}/openai",${js(place, "defaultHeaders", "    ")}
  },
});
const answer = await model.invoke("Hello");
console.log(answer.content);`,
  },
  bedrock: {
    title: "AWS Bedrock",
    install: "npm install @aws-sdk/client-bedrock-runtime",
    of: ({ root, isAuthenticated }) => `import { BedrockRuntimeClient, ConverseCommand } from "@aws-sdk/client-bedrock-runtime";

const client = new BedrockRuntimeClient({
  region: "us-east-1",
  endpoint: "${root}/aws-bedrock/bedrock-runtime/us-east-1",
});${
      isAuthenticated
        ? `
// After the signature, because the gateway takes this field out.
client.middlewareStack.add(
  (next) => (args) => {
    args.request.headers["cf-aig-authorization"] = \`Bearer \${process.env.GATEWAY_TOKEN}\`;
    return next(args);
  },
  { step: "finalizeRequest", priority: "low" },
);`
        : ""
    }
const answer = await client.send(
  new ConverseCommand({
    modelId: "anthropic.claude-3-haiku-20240307-v1:0",
    messages: [{ role: "user", content: [{ text: "Hello" }] }],
  }),
);
console.log(answer.output.message.content[0].text);`,
  },
} as const satisfies Readonly<Record<string, Snippet>>;

export type Client = keyof typeof SNIPPETS;
