"""What the office formats of Open XML share: packages of parts, runs of text, equations, charts and symbols."""
