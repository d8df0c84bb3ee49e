import "./styles/base.css";
import "./styles/parts.css";
import "./styles/ask.css";
import "./styles/answer.css";
import { render } from "preact";
import { App } from "./app";

const root = document.getElementById("page");
if (root !== null) {
  render(<App />, root);
}
