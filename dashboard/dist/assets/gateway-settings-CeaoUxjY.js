import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{A as t,C as n,L as r,M as i,T as a,U as o,V as s,b as c,f as l,j as u,k as d,p as f,u as p}from"./index-Br4iNcg1.js";import{t as m}from"./Switch-CKDIPoJa.js";import{C as h,d as g,x as _}from"./framework-e3L8uo9G.js";import{t as v}from"./confirm-D1leGg2s.js";import{t as y}from"./create-token-DpLZgR8p.js";import{n as b}from"./search-DR87HlN5.js";import{t as x}from"./copy-block-CgYrHZTf.js";import{GatewayFrame as S}from"./gateway-CM8JI0Dc.js";import{t as C}from"./client-keg3aGKa.js";var w=e(h(),1),T=({isAuthenticated:e},t,n)=>e?`\n${n}${t}: { "cf-aig-authorization": \`Bearer \${process.env.GATEWAY_TOKEN}\` },`:``,E=({isAuthenticated:e},t=`    `)=>e?`\n${t}default_headers={"cf-aig-authorization": f"Bearer {os.environ['GATEWAY_TOKEN']}"},`:``,D={curl:{title:`curl`,install:``,of:({root:e,isAuthenticated:t})=>[`curl ${e}/openai/chat/completions`,...t?[`  -H "cf-aig-authorization: Bearer $GATEWAY_TOKEN"`]:[],`  -H "Authorization: Bearer $OPENAI_API_KEY"`,`  -H "Content-Type: application/json"`,`  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'`].join(` \\
`)},"openai-js":{title:`OpenAI, JavaScript`,install:`npm install openai`,of:e=>`import OpenAI from "openai";

const client = new OpenAI({
  apiKey: process.env.OPENAI_API_KEY,
  baseURL: "${e.root}/openai",${T(e,`defaultHeaders`,`  `)}
});
const answer = await client.chat.completions.create({
  model: "gpt-4o-mini",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(answer.choices[0].message.content);`},"openai-python":{title:`OpenAI, Python`,install:`pip install openai`,of:e=>`import os
from openai import OpenAI

client = OpenAI(
    api_key=os.environ["OPENAI_API_KEY"],
    base_url="${e.root}/openai",${E(e)}
)
answer = client.chat.completions.create(
    model="gpt-4o-mini",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`},"anthropic-js":{title:`Anthropic, JavaScript`,install:`npm install @anthropic-ai/sdk`,of:e=>`import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  apiKey: process.env.ANTHROPIC_API_KEY,
  baseURL: "${e.root}/anthropic",${T(e,`defaultHeaders`,`  `)}
});
const answer = await client.messages.create({
  model: "claude-haiku-4-5",
  max_tokens: 256,
  messages: [{ role: "user", content: "Hello" }],
});
console.log(answer.content[0].text);`},"anthropic-python":{title:`Anthropic, Python`,install:`pip install anthropic`,of:e=>`import os
from anthropic import Anthropic

client = Anthropic(
    api_key=os.environ["ANTHROPIC_API_KEY"],
    base_url="${e.root}/anthropic",${E(e)}
)
answer = client.messages.create(
    model="claude-haiku-4-5",
    max_tokens=256,
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.content[0].text)`},"google-genai":{title:`Google GenAI`,install:`npm install @google/genai`,of:e=>`import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: process.env.GEMINI_API_KEY,
  httpOptions: {
    baseUrl: "${e.root}/google-ai-studio",${T(e,`headers`,`    `)}
  },
});
const answer = await client.models.generateContent({ model: "gemini-2.5-flash", contents: "Hello" });
console.log(answer.text);`},"vercel-ai":{title:`Vercel AI SDK`,install:`npm install ai @ai-sdk/openai`,of:e=>`import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";

const openai = createOpenAI({
  apiKey: process.env.OPENAI_API_KEY,
  baseURL: "${e.root}/openai",${T(e,`headers`,`  `)}
});
const { text } = await generateText({ model: openai.chat("gpt-4o-mini"), prompt: "Hello" });
console.log(text);`},langchain:{title:`LangChain`,install:`npm install @langchain/openai @langchain/core`,of:e=>`import { ChatOpenAI } from "@langchain/openai";

const model = new ChatOpenAI({
  model: "gpt-4o-mini",
  apiKey: process.env.OPENAI_API_KEY,
  configuration: {
    baseURL: "${e.root}/openai",${T(e,`defaultHeaders`,`    `)}
  },
});
const answer = await model.invoke("Hello");
console.log(answer.content);`},bedrock:{title:`AWS Bedrock`,install:`npm install @aws-sdk/client-bedrock-runtime`,of:({root:e,isAuthenticated:t})=>`import { BedrockRuntimeClient, ConverseCommand } from "@aws-sdk/client-bedrock-runtime";

const client = new BedrockRuntimeClient({
  region: "us-east-1",
  endpoint: "${e}/aws-bedrock/bedrock-runtime/us-east-1",
});${t?`
// After the signature, because the gateway takes this field out.
client.middlewareStack.add(
  (next) => (args) => {
    args.request.headers["cf-aig-authorization"] = \`Bearer \${process.env.GATEWAY_TOKEN}\`;
    return next(args);
  },
  { step: "finalizeRequest", priority: "low" },
);`:``}
const answer = await client.send(
  new ConverseCommand({
    modelId: "anthropic.claude-3-haiku-20240307-v1:0",
    messages: [{ role: "user", content: [{ text: "Hello" }] }],
  }),
);
console.log(answer.output.message.content[0].text);`}},O=_(),k=Object.keys(D).map(e=>[e,D[e].title]),A=e=>e!==void 0&&Object.hasOwn(D,e);function j({base:e,gateway:t}){let r=l(`${e}/url/openai`),[{client:i},o]=b(),s=A(i)?i:`curl`,c=t.authentication??!1;if(r.error)return(0,O.jsx)(d,{error:r.error,onAgain:()=>void r.refetch()});if(!r.data)return(0,O.jsx)(u,{});let f=r.data.result.slice(0,r.data.result.lastIndexOf(`/`)),{install:m,of:h}=D[s];return(0,O.jsx)(a,{title:`Connect an application`,children:(0,O.jsxs)(`div`,{className:n.stack,children:[(0,O.jsx)(`p`,{className:n.hint,children:`Only the base URL changes: this address, and the name of the provider behind it.`}),(0,O.jsx)(x,{label:`the gateway's address`,text:f}),(0,O.jsx)(p,{label:`Client`,value:s,options:k,onChange:e=>o({client:e},{replace:!0})}),m!==``&&(0,O.jsx)(x,{label:`the command that installs it`,text:m}),(0,O.jsx)(x,{label:`the example`,text:h({root:f,isAuthenticated:c})}),c&&(0,O.jsxs)(`p`,{className:n.hint,children:[(0,O.jsx)(`code`,{children:`GATEWAY_TOKEN`}),` is a token with the permission AI Gateway Run: `,(0,O.jsx)(`i`,{children:`Create a token`}),` makes one. If the gateway stores the provider's key, leave that key empty in the application.`]}),(0,O.jsxs)(`p`,{className:n.hint,children:[`To see spend by team, name the team in the header `,(0,O.jsx)(`code`,{children:`cf-aig-metadata`}),`:`]}),(0,O.jsx)(x,{label:`the metadata header`,text:`cf-aig-metadata: {"team": "search"}`})]})})}var M=[0,60,300,3600,86400,604800],N=[10,60,300,3600,86400],P=[1,2,3,4,5],F=(e,t,n)=>[...new Set([...e,t])].toSorted((e,t)=>e-t).map(e=>[String(e),n(e)]);function I({base:e,gateway:l}){let u=f(e),[d,m]=(0,w.useState)(l.cache_ttl??0),[h,g]=(0,w.useState)(String(l.rate_limiting_limit||``)),[_,v]=(0,w.useState)(l.rate_limiting_interval||60),[y,b]=(0,w.useState)(l.retry_max_attempts??1),x=h.trim()!==``,S=t=>{t.preventDefault();let{cache_invalidate_on_update:n,collect_logs:r}=l,i={cache_invalidate_on_update:n,collect_logs:r,cache_ttl:d,rate_limiting_limit:x?Number(h):null,rate_limiting_interval:x?_:null,retry_max_attempts:y===1?null:y};u.mutate({method:`PUT`,path:e,body:i})},T=u.error instanceof C?u.error.byField():{},E=T.rate_limiting_limit??T.rate_limiting_interval;return(0,O.jsx)(a,{title:`Cache and limits`,children:(0,O.jsxs)(`form`,{className:n.form,onSubmit:S,children:[(0,O.jsx)(p,{label:`Keep answers`,value:String(d),options:F(M,d,e=>e===0?`not at all`:`for ${r(e)}`),onChange:e=>m(Number(e))}),(0,O.jsxs)(`div`,{className:n.two,children:[(0,O.jsx)(s,{label:`Requests at most`,placeholder:`no limit`,inputMode:`numeric`,value:h,onChange:({currentTarget:e})=>g(e.value.replaceAll(/\D/g,``)),error:E&&`${E.message} (${E.code})`}),(0,O.jsx)(p,{label:`In`,value:String(_),options:F(N,_,r),onChange:e=>v(Number(e))})]}),(0,O.jsx)(p,{label:`Ask a provider that fails`,value:String(y),options:F(P,y,e=>e===1?`once`:`up to ${e} times`),onChange:e=>b(Number(e))}),u.error&&!E&&(0,O.jsx)(i,{tone:`bad`,children:(0,O.jsx)(t,{error:u.error})}),u.isSuccess&&(0,O.jsx)(i,{tone:`good`,children:`Saved, for the next request.`}),(0,O.jsx)(c,{children:(0,O.jsx)(o,{type:`submit`,loading:u.isPending,loaderProps:{type:`dots`},children:`Save`})})]})})}var L=()=>(0,O.jsx)(S,{children:(e,t)=>(0,O.jsx)(R,{base:e,gateway:t})});function R({base:e,gateway:r}){let s=f(e),c=f(e.slice(0,e.lastIndexOf(`/`))),l=g(),[u,d]=(0,w.useState)(!1),[p,h]=(0,w.useState)(!1),{cache_invalidate_on_update:_,cache_ttl:b,collect_logs:x,rate_limiting_interval:S,rate_limiting_limit:C,authentication:T}=r,E=t=>{let n={cache_invalidate_on_update:_,cache_ttl:b,collect_logs:x,rate_limiting_interval:S,rate_limiting_limit:C,authentication:T};s.mutate({method:`PUT`,path:e,body:{...n,...t}})};return(0,O.jsxs)(`div`,{className:n.wide,children:[(0,O.jsx)(`div`,{children:(0,O.jsx)(j,{base:e,gateway:r})}),(0,O.jsxs)(`div`,{children:[(0,O.jsx)(a,{title:`Access`,children:(0,O.jsxs)(`div`,{className:n.stack,children:[(0,O.jsx)(m,{label:`Authenticated Gateway`,description:`Every request needs a token with AI Gateway Run, in the header cf-aig-authorization.`,checked:T??!1,disabled:s.isPending,onChange:({currentTarget:e})=>E({authentication:e.checked})}),(0,O.jsx)(m,{label:`Keep requests`,description:`Each request with its prompt, answer, tokens and cost.`,checked:x,disabled:s.isPending,onChange:({currentTarget:e})=>E({collect_logs:e.checked})}),s.error&&(0,O.jsx)(i,{tone:`bad`,children:(0,O.jsx)(t,{error:s.error})}),(0,O.jsx)(`div`,{className:n.row,children:(0,O.jsx)(o,{variant:`default`,onClick:()=>d(!0),children:`Create a token`})})]})}),(0,O.jsx)(I,{base:e,gateway:r}),(0,O.jsx)(a,{title:`Delete`,aside:(0,O.jsx)(o,{variant:`subtle`,color:`red`,onClick:()=>h(!0),children:`Delete the gateway`}),children:(0,O.jsx)(`p`,{className:n.hint,children:`With its logs, and for good.`})})]}),p&&(0,O.jsx)(v,{title:`Delete the gateway ${r.id}?`,action:`Delete the gateway`,typed:r.id,error:c.error,isPending:c.isPending,onClose:()=>h(!1),onConfirm:()=>c.mutate({method:`DELETE`,path:e},{onSuccess:()=>void l({to:`/gateways`})}),children:`Its logs, routes, datasets and keys of providers go with it. Applications that use its address get an error.`}),u&&(0,O.jsx)(y,{onClose:()=>d(!1),preset:[`AI Gateway Run`],name:`Gateway ${r.id}`})]})}export{L as GatewaySettingsPage};